/** Zips as other programs write them. */
import { crc32, deflateRawSync } from 'node:zlib';

/** A file that differs from what its content would give. */
export interface OddFile {
  content: string | Buffer;
  /** With the type of the file, as Unix has it. */
  mode?: number;
  is_encrypted?: boolean;
  method?: number;
  /** What the entry says of the size of the unpacked file. */
  said_bytes?: number;
}

/** Stands for a number of more than 32 bits, which is elsewhere. */
const elsewhere = 0xffffffff;

/**
 * A zip of files by name, compressed, without a mark in front.
 * @param is_large whether all sizes and places are written with 64 bits
 */
export function zipOf(files: Record<string, string | Buffer | OddFile>, is_large = false): Buffer {
  const [local, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const [name, given] of Object.entries(files)) {
    const file: OddFile = typeof given === 'string' || Buffer.isBuffer(given) ? { content: given } : given;
    const { content, mode, is_encrypted = false, method = 8 } = file;
    const bytes = method === 8 ? deflateRawSync(content) : Buffer.from(content);
    const size_bytes = file.said_bytes ?? Buffer.byteLength(content);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(is_encrypted ? 1 : 0, 2);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(crc32(content), 10);
    shared.writeUInt32LE(bytes.length, 14);
    shared.writeUInt32LE(size_bytes, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const written = [Buffer.from('PK\x03\x04'), shared, Buffer.from(name), bytes];
    const listed = Buffer.from(shared);
    const entry = Buffer.alloc(14);
    if (mode !== undefined) entry.writeUInt32LE(mode * 0x10000, 6);
    entry.writeUInt32LE(is_large ? elsewhere : offset, 10);
    const extra = is_large ? numbers([size_bytes, bytes.length, offset], 1) : Buffer.alloc(0);
    if (is_large) listed.fill(0xff, 14, 22);
    listed.writeUInt16LE(extra.length, 24);
    const madeBy = mode === undefined ? 0 : 3;
    directory.push(Buffer.from(['P', 'K', 1, 2].map((each) => (typeof each === 'string' ? each.charCodeAt(0) : each))));
    directory.push(Buffer.from([20, madeBy]), listed, entry, Buffer.from(name), extra);
    local.push(...written);
    offset += written.reduce((sum, part) => sum + part.length, 0);
  }
  const entries = Buffer.concat(directory);
  const count = Object.keys(files).length;
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(is_large ? 0xffff : count, 8);
  end.writeUInt16LE(is_large ? 0xffff : count, 10);
  end.writeUInt32LE(is_large ? elsewhere : entries.length, 12);
  end.writeUInt32LE(is_large ? elsewhere : offset, 16);
  const largeEnd = is_large ? [largeEndOf(count, entries.length, offset)] : [];
  return Buffer.concat([...local, entries, ...largeEnd, end]);
}

const numbers = (values: readonly number[], id: number): Buffer => {
  const bytes = Buffer.alloc(4 + 8 * values.length);
  bytes.writeUInt16LE(id, 0);
  bytes.writeUInt16LE(8 * values.length, 2);
  values.forEach((value, index) => {
    bytes.writeBigUInt64LE(BigInt(value), 4 + 8 * index);
  });
  return bytes;
};

/** The end of the directory with numbers of 64 bits, and the record that says where it is. */
function largeEndOf(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(56);
  end.write('PK\x06\x06');
  end.writeBigUInt64LE(44n, 4);
  for (const [at, value] of [count, count, size, offset].entries()) end.writeBigUInt64LE(BigInt(value), 24 + 8 * at);
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07');
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end, locator]);
}
