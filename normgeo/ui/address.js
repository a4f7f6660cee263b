// Tells the server where a slider rests, so that its next answer keeps it in the address.
export default function ({ setTriggerValue }) {
  window.sliderRests = (setting, value) => setTriggerValue("rests", [setting, value]);
}
