/** Detects when a push over a connection has begun (gitprotocol-pack, "Reference Update Request and Packfile Transfer"). */

const lengthDigits = 4;

/**
 * Whether the client has begun to send its pack, or has named all refs and sends no pack, as for deleting branches. The rest then arrives without a pause.
 * @param sent the bytes received so far
 */
export function hasBegun(sent: Buffer): boolean {
  let needsPack = false;
  for (let at = 0; sent.length >= at + lengthDigits; ) {
    const digits = sent.toString('latin1', at, at + lengthDigits);
    const length = /^[\da-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : 1;
    if (length === 0) return !needsPack || sent.length > at + lengthDigits;
    // Not a packet line: git reports the error.
    if (length < lengthDigits) return true;
    const end = at + length;
    if (sent.length < end) return false;
    if (/^[\da-f]{40,} (?!0+ )/.test(sent.toString('latin1', at + lengthDigits, end))) needsPack = true;
    at = end;
  }
  return false;
}
