/** The startup message of a PostgreSQL client, with its role and database. */

/** The limit in PostgreSQL itself is 10,000 bytes. */
const maximum_bytes = 10_000;
const head_bytes = 8;

export interface Startup {
  /** The message, and any bytes after it. */
  bytes: Buffer;
  parameters: ReadonlyMap<string, string>;
}

/**
 * Parses the message from the bytes received so far.
 * @returns undefined if it is not complete yet
 * @throws Error for any other message: requests for encryption, which a client does not make on a socket of this
 * machine, and cancellations
 */
export function readStartup(bytes: Buffer): Startup | undefined {
  if (bytes.length < head_bytes) return undefined;
  const length_bytes = bytes.readUInt32BE(0);
  if (bytes.readUInt16BE(4) !== 3 || length_bytes < head_bytes || length_bytes > maximum_bytes)
    throw new Error('This is not the start of a session with PostgreSQL.');
  if (bytes.length < length_bytes) return undefined;
  const words = bytes.toString('utf8', head_bytes, length_bytes).split('\0');
  const parameters = new Map<string, string>();
  for (let at = 0; at + 1 < words.length && words[at] !== ''; at += 2) {
    // If a parameter were given more than once, PostgreSQL would use the last value.
    if (parameters.has(words[at]!)) throw new Error('A parameter is given twice.');
    parameters.set(words[at]!, words[at + 1]!);
  }
  return { bytes, parameters };
}
