/** Receiving files that are attached to texts. */
import { Readable } from 'node:stream';
import { newBlobKey } from '../../../blobs/index.ts';
import { invalid, SentFile, UploadedFile, type Values } from '../../../http/index.ts';
import type { PageCall } from '../../../pages/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

/**
 * The file of a form, as endpoints take it. It is not kept unless the endpoint keeps it.
 * @throws ApiError 400 without a file, or for one that is larger than the settings allow
 */
export async function receivedFile({ services: { db, blobs } }: PageCall, fields: Values): Promise<Values> {
  const file = [fields.file].flat().find((each) => each instanceof SentFile);
  if (!file) throw invalid({ file: ['is missing'] });
  const { max_attachment_size } = await settingsOf(db);
  if (file.content.length > max_attachment_size * 1024 * 1024)
    throw invalid({ file: [`is too big (should be at most ${max_attachment_size} MiB)`] });
  const content = Readable.from([file.content]);
  const blob = await blobs.receive(newBlobKey('uploads'), content, { at_most_bytes: file.content.length });
  return { file: new UploadedFile(file.name, blob) };
}
