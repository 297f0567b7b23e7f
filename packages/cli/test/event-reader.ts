/**
 * Reads TensorBoard's event files for tests, by the formats' descriptions and with nothing of what writes
 * them: checksums bit by bit, messages field by field.
 */

export interface ReadEvent {
  readonly wallTime: number;
  readonly step: number;
  readonly version: string | null;
  /** What a session log says: 1 is a start. */
  readonly status: number | null;
  readonly scalars: ReadonlyMap<string, number>;
}

/** All events of a file. @throws if a record is torn, a checksum wrong or a message not understood. */
export function readEventFile(bytes: Buffer): readonly ReadEvent[] {
  const events: ReadEvent[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = Number(bytes.readBigUInt64LE(at));
    if (bytes.readUInt32LE(at + 8) !== checksum(bytes.subarray(at, at + 8))) {
      throw new Error(`the length at ${at} has another checksum`);
    }
    const data = bytes.subarray(at + 12, at + 12 + length);
    if (data.length < length) throw new Error(`the record at ${at} is torn`);
    if (bytes.readUInt32LE(at + 12 + length) !== checksum(data)) {
      throw new Error(`the data at ${at} has another checksum`);
    }
    events.push(eventOf(data));
    at += 16 + length;
  }
  return events;
}

function checksum(bytes: Uint8Array): number {
  let crc = 0xffff_ffffn;
  for (const byte of bytes) {
    for (let bit = 0; bit < 8; bit++) {
      const isOne = ((crc & 1n) === 1n) !== (((byte >> bit) & 1) === 1);
      crc = isOne ? (crc >> 1n) ^ 0x82f6_3b78n : crc >> 1n;
    }
  }
  crc ^= 0xffff_ffffn;
  const rotated = (crc >> 15n) | ((crc << 17n) & 0xffff_ffffn);
  return Number((rotated + 0xa282_ead8n) & 0xffff_ffffn);
}

function eventOf(data: Buffer): ReadEvent {
  const fields = fieldsOf(data);
  const one = (number: number) => fields.find(({ field }) => field === number)?.value;
  const log = one(7) as Buffer | undefined;
  const summary = one(5) as Buffer | undefined;
  return {
    wallTime: (one(1) as Buffer).readDoubleLE(),
    step: Number(one(2) ?? 0n),
    version: (one(3) as Buffer | undefined)?.toString() ?? null,
    status: log === undefined ? null : Number(fieldsOf(log)[0]!.value),
    scalars: new Map(
      fieldsOf(summary ?? Buffer.alloc(0)).map(({ value }) => {
        const [tag, scalar] = fieldsOf(value as Buffer);
        if (tag?.field !== 1 || scalar?.field !== 2) throw new Error("not a scalar with a tag");
        return [(tag.value as Buffer).toString(), (scalar.value as Buffer).readFloatLE()] as const;
      }),
    ),
  };
}

interface Field {
  readonly field: number;
  /** A whole number, or the bytes of anything else. */
  readonly value: bigint | Buffer;
}

function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    const bytes = message.subarray(at, at + length);
    if (bytes.length < length) throw new Error("a field is torn");
    at += length;
    return bytes;
  };
  while (at < message.length) {
    const key = Number(varint());
    const types: Readonly<Record<number, () => bigint | Buffer>> = {
      0: varint,
      1: () => take(8),
      2: () => take(Number(varint())),
      5: () => take(4),
    };
    const read = types[key & 7];
    if (read === undefined) throw new Error(`no wire type ${key & 7}`);
    fields.push({ field: key >> 3, value: read() });
  }
  return fields;
}
