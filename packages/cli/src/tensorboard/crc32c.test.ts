import { expect, test } from "vitest";
import { crc32c, maskedCrc32c } from "./crc32c.js";

test.each([
  ["nothing", [], 0],
  ["the digits", [...Buffer.from("123456789")], 0xe3069283],
  // RFC 3720, B.4
  ["zeros", Array.from({ length: 32 }, () => 0), 0x8a9136aa],
  ["ones", Array.from({ length: 32 }, () => 0xff), 0x62a8ab43],
  ["ascending bytes", Array.from({ length: 32 }, (_, i) => i), 0x46dd794e],
])("the checksum of %s is the published one", (_, bytes, expected) => {
  expect(crc32c(Uint8Array.from(bytes))).toBe(expected);
});

test("a masked checksum is the checksum again once it is unmasked", () => {
  for (let i = 0; i < 1000; i++) {
    const bytes = Buffer.from(`record ${i}`);
    const turned = (maskedCrc32c(bytes) - 0xa282ead8) >>> 0;
    expect(((turned << 15) | (turned >>> 17)) >>> 0).toBe(crc32c(bytes));
  }
});
