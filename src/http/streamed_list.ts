/** Lists whose items are read while the client receives them, since together they do not fit in memory. */

/** The approximate size of the pieces that are sent. */
const piece_chars = 64 * 1024;

/**
 * The JSON text of a list.
 * @param write an item to its JSON text, or to the pieces of a long one
 */
export async function* listText(
  items: AsyncIterable<unknown>,
  write: (item: unknown) => string | Promise<Buffer[]>,
): AsyncGenerator<Buffer> {
  let text = '[';
  let separator = '';
  for await (const item of items) {
    const written = write(item);
    text += separator;
    separator = ',';
    if (typeof written === 'string') text += written;
    if (text.length > piece_chars || typeof written !== 'string') {
      yield Buffer.from(text);
      text = '';
    }
    if (typeof written !== 'string') yield* await written;
  }
  yield Buffer.from(`${text}]`);
}
