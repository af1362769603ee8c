/** Reads the output of git as it arrives, in batches: one for each chunk of output, so that a loop over them lets other requests run. */
import type { Readable } from 'node:stream';

/** The length at which a record is cut: no line that we request from git is longer. */
const maximumRecord = 1024 * 1024;

/**
 * The texts between separators.
 * @param separator a byte, which ends each record
 */
export async function* recordsIn(stream: Readable, separator: number): AsyncGenerator<string[]> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const records: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(separator); end >= 0; end = bytes.indexOf(separator, from)) {
      records.push(bytes.toString('utf8', from, end));
      from = end + 1;
    }
    rest = bytes.subarray(from, from + maximumRecord);
    if (records.length > 0) yield records;
  }
}

/** An object in the format of `git cat-file --batch`. */
export interface WrittenObject {
  id: string;
  type: string;
  size_bytes: number;
  /** Its first bytes, as many as requested. */
  content: Buffer;
}

const line_feed = 0x0a;

/**
 * The objects in the output of `git cat-file --batch`; missing ones are left out.
 * @param most_bytes of the content of each
 */
export async function* objectsWritten(stream: Readable, most_bytes: number): AsyncGenerator<WrittenObject[]> {
  let head: Buffer = Buffer.alloc(0);
  let object: (Omit<WrittenObject, 'content'> & { parts: Buffer[]; kept: number; left: number }) | undefined;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const objects: WrittenObject[] = [];
    for (let at = 0; at < chunk.length; ) {
      if (!object) {
        const end = chunk.indexOf(line_feed, at);
        head = Buffer.concat([head, chunk.subarray(at, end < 0 ? undefined : end)]);
        at = end < 0 ? chunk.length : end + 1;
        if (end < 0) continue;
        const [id = '', type = '', size] = head.toString('latin1').split(' ');
        head = Buffer.alloc(0);
        // The content ends with a line feed that is not part of it.
        if (size !== undefined)
          object = { id, type, size_bytes: Number(size), parts: [], kept: 0, left: Number(size) + 1 };
        continue;
      }
      const part = chunk.subarray(at, at + object.left);
      at += part.length;
      object.left -= part.length;
      const wanted = part.subarray(0, Math.min(most_bytes, object.size_bytes) - object.kept);
      object.parts.push(wanted);
      object.kept += wanted.length;
      if (object.left > 0) continue;
      const { id, type, size_bytes, parts } = object;
      objects.push({ id, type, size_bytes, content: Buffer.concat(parts) });
      object = undefined;
    }
    if (objects.length > 0) yield objects;
  }
}
