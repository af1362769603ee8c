/** Reading files whose changes are shown. */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { PageCall } from '../../../pages/index.ts';
import type { DiffSource } from './definition.ts';

const maximum_bytes = 1024 * 1024;

/**
 * Reads files after the changes.
 * @param ref the commit
 * @param id the project, if it is not that of the page
 */
export const textsAt =
  ({ bytes, perhaps }: PageCall, ref: string, id?: number): DiffSource['textOf'] =>
  async (file_path) => {
    const at = { ref, file_path, ...(id === undefined ? {} : { id }) };
    const head = await perhaps(bytes('getRawFileMetadata', at));
    if (!head || Number(head.headers?.['content-length']) > maximum_bytes) return undefined;
    const { body } = await bytes('getRawFile', at);
    return new TextDecoder().decode(Buffer.isBuffer(body) ? body : await buffer(body as Readable));
  };
