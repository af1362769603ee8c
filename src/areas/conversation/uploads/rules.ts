/** Links to uploads (docs/reference/uploads.md). Pure functions. */
import { markdownOf } from '../../../markdown/index.ts';

/**
 * The parts for referring to an upload in a text: the relative address, and the Markdown of a link, or of an image,
 * video or audio.
 */
export function linkTo({ secret, filename }: { secret: string; filename: string }) {
  const url = `/uploads/${secret}/${filename}`;
  return { url, ...markdownOf(filename, url) };
}

/** The kind of owner of an upload, as in web addresses. */
export type UploadOwner = 'project' | 'group';

export const isSecret = (text: string): boolean => /^[0-9a-f]{32}$/.test(text);

/** A relative address in a text, without the file name. */
const address = /(?<![\p{L}\p{N}_/.-])\/uploads\/([0-9a-f]{32})(?=\/)/gu;

/** The secrets of the uploads that a text refers to. */
export const secretsIn = (text: string): string[] => [...text.matchAll(address)].map(([, secret]) => secret!);

/** Replaces the secrets in a text; addresses with other secrets do not change. */
export const withSecrets = (text: string, secrets: ReadonlyMap<string, string>): string =>
  text.replaceAll(address, (found, secret: string) =>
    secrets.has(secret) ? `/uploads/${secrets.get(secret)}` : found,
  );
