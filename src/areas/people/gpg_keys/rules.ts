/** Parsing public OpenPGP keys (RFC 9580, and RFC 4880 for keys of version 4 from older programs). Pure functions. */
import { createHash } from 'node:crypto';

const first = '-----BEGIN PGP PUBLIC KEY BLOCK-----';
const last = '-----END PGP PUBLIC KEY BLOCK-----';
const invalidText = `is invalid. A valid public GPG key begins with '${first}' and ends with '${last}'`;
/** Enough for a key with the signatures of hundreds of people. */
const maximumText = 1_000_000;

const publicKeyPacket = 6;
const userIdPacket = 13;

export interface PublicGpgKey {
  /** The armored block, without surrounding text. */
  text: string;
  fingerprint: Buffer;
}

/**
 * Reads an armored block, as written by `gpg --armor --export`.
 * @returns the key, or the reason why the text is not a key
 */
export function readGpgKey(text: string): PublicGpgKey | { refusal: string } {
  const block = text.trim();
  if (block.length > maximumText || !block.startsWith(first) || !block.endsWith(last)) return { refusal: invalidText };
  try {
    const packets = packetsIn(bytesOf(block));
    const [primary] = packets;
    // A key without a user ID cannot identify the signer.
    if (primary?.tag !== publicKeyPacket || !packets.some(({ tag }) => tag === userIdPacket))
      return { refusal: invalidText };
    return { text: block, fingerprint: fingerprintOf(primary.body) };
  } catch (error) {
    if (error instanceof RangeError) return { refusal: invalidText };
    throw error;
  }
}

/** The bytes of an armored block. Its headers, up to an empty line, are not part of the key; the checksum is optional. */
function bytesOf(block: string): Buffer {
  const lines = block
    .slice(first.length, -last.length)
    .replace(/^[ \t]*\r?\n/, '')
    .split(/\r?\n/);
  const body = lines.slice(lines.findIndex((line) => line.trim() === '') + 1).map((line) => line.trim());
  const base64 = body.filter((line) => line !== '' && !line.startsWith('=')).join('');
  const checksum = body.find((line) => /^=[A-Za-z0-9+/]{4}$/.test(line));
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new RangeError('the block is not base64');
  const bytes = Buffer.from(base64, 'base64');
  if (checksum && Buffer.from(checksum.slice(1), 'base64').readUIntBE(0, 3) !== crc24(bytes))
    throw new RangeError('the checksum does not match');
  return bytes;
}

/** The checksum of armored blocks (RFC 9580, section 6.1.1). */
function crc24(bytes: Buffer): number {
  let crc = 0xb704ce;
  for (const byte of bytes) {
    crc ^= byte << 16;
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1;
      if (crc & 0x1000000) crc ^= 0x1864cfb;
    }
  }
  return crc & 0xffffff;
}

interface Packet {
  tag: number;
  body: Buffer;
}

/** @throws RangeError when a packet is truncated or has no fixed length */
function packetsIn(bytes: Buffer): Packet[] {
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length; ) {
    const header = bytes.readUInt8(at);
    if (header < 0x80) throw new RangeError('not a packet');
    const isNew = (header & 0x40) !== 0;
    const { length, start } = isNew ? newLength(bytes, at + 1) : oldLength(bytes, at + 1, header & 3);
    const end = start + length;
    if (end > bytes.length) throw new RangeError('the packet is truncated');
    packets.push({ tag: isNew ? header & 0x3f : (header >> 2) & 0x0f, body: bytes.subarray(start, end) });
    at = end;
  }
  return packets;
}

/** New packet format (RFC 9580, section 4.2.1). Keys have no partial lengths. */
function newLength(bytes: Buffer, at: number): { length: number; start: number } {
  const one = bytes.readUInt8(at);
  if (one < 192) return { length: one, start: at + 1 };
  if (one < 224) return { length: ((one - 192) << 8) + bytes.readUInt8(at + 1) + 192, start: at + 2 };
  if (one === 255) return { length: bytes.readUInt32BE(at + 1), start: at + 5 };
  throw new RangeError('a partial length');
}

/** Legacy packet format (RFC 9580, section 4.2.2). */
function oldLength(bytes: Buffer, at: number, type: number): { length: number; start: number } {
  if (type === 3) throw new RangeError('an indeterminate length');
  const size = 2 ** type;
  return { length: bytes.readUIntBE(at, size), start: at + size };
}

/** The fingerprint (RFC 9580, section 5.5.4). @throws RangeError for unsupported versions of keys */
function fingerprintOf(body: Buffer): Buffer {
  const version = body.readUInt8(0);
  if (version === 4) {
    const head = Buffer.from([0x99, 0, 0]);
    head.writeUInt16BE(body.length, 1);
    return createHash('sha1').update(head).update(body).digest();
  }
  if (version !== 6) throw new RangeError(`a key of version ${version}`);
  const head = Buffer.from([0x9b, 0, 0, 0, 0]);
  head.writeUInt32BE(body.length, 1);
  return createHash('sha256').update(head).update(body).digest();
}
