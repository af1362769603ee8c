/** Shared fixtures for tests of uploads. */
import type { Answer } from './client.ts';
import type { Persona, World } from './world.ts';

/** A multipart body with one file. */
export function fileForm(name: string, content: Uint8Array<ArrayBuffer> | string): FormData {
  const body = new FormData();
  body.append('file', new Blob([content]), name);
  return body;
}

/**
 * Uploads a file.
 * @param place the path of a project or group in the API
 */
export const upload = (
  { as }: World,
  persona: Persona | 'anonymous',
  place: string,
  name: string,
  content: Uint8Array<ArrayBuffer> | string = 'content',
): Promise<Answer> => as(persona).post(`${place}/uploads`, undefined, { raw: fileForm(name, content) });

/** Reads an address of the server, by default without a token. */
export const fetchFrom = (
  { url, people }: World,
  path: string,
  persona?: Persona,
  headers: Record<string, string> = {},
) =>
  fetch(`${url}${path}`, {
    headers: { ...headers, ...(persona ? { 'private-token': people[persona].token } : {}) },
    redirect: 'manual',
  });
