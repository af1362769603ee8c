/** Shared fixtures for tests of large files: a client of the LFS API that is not git-lfs, and objects to send. */
import { createHash } from 'node:crypto';
import type { Persona, World } from './world.ts';

export interface LfsObject {
  oid: string;
  size: number;
}

export const objectFor = (bytes: Buffer | string): LfsObject => ({
  oid: createHash('sha256').update(bytes).digest('hex'),
  size: Buffer.byteLength(bytes),
});

export const pointerFor = ({ oid, size }: LfsObject): string =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`;

export const basic = (password: string): { authorization: string } => ({
  authorization: `Basic ${Buffer.from(`git:${password}`).toString('base64')}`,
});

export interface LfsAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read replies member by member and assert what they find.
  body: any;
}

type Who = Persona | 'anonymous' | { token: string };

/**
 * Asks below the repository of the world's project.
 * @param path e.g. `info/lfs/objects/batch`; a whole address of the server's own is taken for the part after `.git/`
 */
export async function ask(
  here: World,
  who: Who,
  path: string,
  init: RequestInit & { json?: unknown } = {},
): Promise<LfsAnswer> {
  const token = typeof who === 'object' ? who.token : who === 'anonymous' ? undefined : here.people[who].token;
  const { json, ...rest } = init;
  const below = path.replace(/^http:\/\/[^/]+\/.*\.git\//, '');
  const response = await fetch(`${here.url}/${here.project.full_path}.git/${below}`, {
    ...(json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) }),
    ...rest,
    headers: {
      ...(json === undefined ? {} : { 'content-type': 'application/vnd.git-lfs+json' }),
      ...(token === undefined ? {} : basic(token)),
      ...(rest.headers as Record<string, string>),
    },
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/vnd.git-lfs+json') && text !== '';
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** A batch of one operation. */
export const batch = (here: World, who: Who, operation: string, objects: LfsObject[]): Promise<LfsAnswer> =>
  ask(here, who, 'info/lfs/objects/batch', { json: { operation, transfers: ['basic'], objects } });

/** Uploads as git-lfs does, with what the batch says; gives the answer to the PUT. */
export async function upload(here: World, who: Who, bytes: Buffer<ArrayBuffer>): Promise<LfsAnswer> {
  const object = objectFor(bytes);
  const { body } = await batch(here, who, 'upload', [object]);
  const { href, header } = body.objects[0].actions.upload;
  return put(here, href, header.Authorization, bytes);
}

export const put = (
  here: World,
  href: string,
  authorization: string,
  body: NonNullable<RequestInit['body']>,
): Promise<LfsAnswer> =>
  ask(here, 'anonymous', href, {
    method: 'PUT',
    body,
    duplex: 'half',
    headers: { authorization, 'content-type': 'application/octet-stream' },
  } as RequestInit);
