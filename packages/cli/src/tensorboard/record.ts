import { maskedCrc32c } from "./crc32c.js";

/**
 * A record of a TFRecord file: the length of the data in 64 bits, its masked CRC-32C, the data, its masked
 * CRC-32C; numbers are little-endian.
 */
export function tfRecord(data: Uint8Array): Buffer {
  const record = Buffer.alloc(data.length + 16);
  record.writeUInt32LE(data.length, 0);
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8);
  record.set(data, 12);
  record.writeUInt32LE(maskedCrc32c(data), 12 + data.length);
  return record;
}
