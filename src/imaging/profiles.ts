/** An ICC profile of sRGB (IEC 61966-2-1), written by Little CMS. CMYK pictures with a profile are converted to it. */
export const SRGB_PROFILE = Uint8Array.fromBase64(
  "AAACTGxjbXMEQAAAbW50clJHQiBYWVogB+oACwAWAAYAIQA7YWNzcEFQUEwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAPbW" +
    "AAEAAAAA0y1sY21zAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAALZGVzYwAAAQgAAAA2" +
    "Y3BydAAAAUAAAABMd3RwdAAAAYwAAAAUY2hhZAAAAaAAAAAsclhZWgAAAcwAAAAUYlhZWgAAAeAAAAAUZ1hZWgAAAfQAAAAU" +
    "clRSQwAAAggAAAAgZ1RSQwAAAggAAAAgYlRSQwAAAggAAAAgY2hybQAAAigAAAAkbWx1YwAAAAAAAAABAAAADGVuVVMAAAAa" +
    "AAAAHABzAFIARwBCACAAYgB1AGkAbAB0AC0AaQBuAABtbHVjAAAAAAAAAAEAAAAMZW5VUwAAADAAAAAcAE4AbwAgAGMAbwBw" +
    "AHkAcgBpAGcAaAB0ACwAIAB1AHMAZQAgAGYAcgBlAGUAbAB5WFlaIAAAAAAAAPbWAAEAAAAA0y1zZjMyAAAAAAABDEIAAAXe" +
    "///zJQAAB5MAAP2Q///7of///aIAAAPcAADAblhZWiAAAAAAAABvoAAAOPUAAAOQWFlaIAAAAAAAACSfAAAPhAAAtsNYWVog" +
    "AAAAAAAAYpcAALeHAAAY2XBhcmEAAAAAAAMAAAACZmYAAPKnAAANWQAAE9AAAApbY2hybQAAAAAAAwAAAACj1wAAVHsAAEzN" +
    "AACZmgAAJmYAAA9c",
);

const HEADER_BYTES = 128;
/** Offset of a text's length field, which precedes the text's offset field and the text (ICC.1:2022, 10.15). */
const NAME_LENGTH = 20;

/** The sRGB profile with the primaries of Display P3 (SMPTE EG 432-1, adapted to D50). */
export const DISPLAY_P3_PROFILE = displayP3();

function displayP3(): Uint8Array<ArrayBuffer> {
  const profile = Buffer.from(SRGB_PROFILE);
  const primaries = {
    rXYZ: [0.51512, 0.2412, -0.00105],
    gXYZ: [0.29198, 0.69225, 0.04189],
    bXYZ: [0.1571, 0.06657, 0.78407],
  };
  const offsetOf = (tag: string) => profile.readUInt32BE(profile.indexOf(tag, HEADER_BYTES) + 4);
  for (const [tag, values] of Object.entries(primaries))
    values.forEach((value, index) =>
      profile.writeInt32BE(Math.round(value * 65_536), offsetOf(tag) + 8 + index * 4),
    );
  const name = Buffer.from("Display P3", "utf16le").swap16();
  profile.writeUInt32BE(name.length, offsetOf("desc") + NAME_LENGTH);
  name.copy(profile, offsetOf("desc") + NAME_LENGTH + 8);
  return new Uint8Array(profile);
}
