/**
 * TensorBoard's messages, as far as they are written here, in the wire format of Protocol Buffers:
 *
 *     message Event {
 *       double wall_time = 1;
 *       int64 step = 2;
 *       oneof what { string file_version = 3; Summary summary = 5; SessionLog session_log = 7; }
 *     }
 *     message Summary { repeated Value value = 1; }
 *     message Value { string tag = 1; float simple_value = 2; }
 *     message SessionLog { SessionStatus status = 1; }
 */

/** Values by their names at a time, in seconds since 1970, and a step. */
export interface Point {
  readonly wallTime: number;
  readonly step: number;
  readonly scalars: readonly (readonly [tag: string, value: number])[];
}

/** The first event of a file. */
export function versionEvent(wallTime: number): Buffer {
  return Buffer.concat([double(1, wallTime), bytes(3, Buffer.from("brain.Event:2"))]);
}

/**
 * Says that the run starts, or starts again, at a step: what earlier files have from that step on does
 * not count any more.
 */
export function startEvent(wallTime: number, step: number): Buffer {
  const START = 1;
  return Buffer.concat([double(1, wallTime), number(2, step), bytes(7, number(1, START))]);
}

export function scalarsEvent({ wallTime, step, scalars }: Point): Buffer {
  const values = scalars.map(([tag, value]) =>
    bytes(1, Buffer.concat([bytes(1, Buffer.from(tag)), float(2, value)])),
  );
  return Buffer.concat([double(1, wallTime), number(2, step), bytes(5, Buffer.concat(values))]);
}

/** Types of the wire format. */
const wire = { varint: 0, bits64: 1, bytes: 2, bits32: 5 } as const;

function key(field: number, type: keyof typeof wire): Buffer {
  return Buffer.from([(field << 3) | wire[type]]);
}

/** @param value - a whole number from 0 to 2^53 − 1. */
function varint(value: number): Buffer {
  const groups: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) groups.push((rest % 0x80) | 0x80);
  return Buffer.from([...groups, rest]);
}

function number(field: number, value: number): Buffer {
  return Buffer.concat([key(field, "varint"), varint(value)]);
}

function bytes(field: number, value: Uint8Array): Buffer {
  return Buffer.concat([key(field, "bytes"), varint(value.length), value]);
}

function double(field: number, value: number): Buffer {
  const bits = Buffer.alloc(8);
  bits.writeDoubleLE(value);
  return Buffer.concat([key(field, "bits64"), bits]);
}

function float(field: number, value: number): Buffer {
  const bits = Buffer.alloc(4);
  bits.writeFloatLE(value);
  return Buffer.concat([key(field, "bits32"), bits]);
}
