/** The ref advertisement of the protocols 0 and 1 (gitprotocol-pack, "Reference Discovery"), written without git once git's capabilities are known. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { cacheOf } from '../foundation/caches.ts';
import { objectHeader } from './readers.ts';
import { readRef, refsBelow, type StoredRef } from './ref_store.ts';
import type { Repository } from './types.ts';

/** The values that git's capabilities depend on, and the refs that git hides. */
interface Terms {
  key: string;
  /** The branch that HEAD names, if it is advertised to fetching clients. */
  head: string | undefined;
  hidden: string[];
}

/** The lifetime of cached capabilities, since git may be upgraded while a server runs. */
const known_capabilities = new LRUCache<string, string>({ max: 100, ttl: 10 * 60_000 });
const peeled_ids = cacheOf<string, string>(50_000);

/** This many refs are formatted at a time, before other requests are served. */
const refs_per_chunk = 1_000;

/** Advertised refs, by the terms, cached as long as `ref_store` keeps these refs, which it does up to a limit. Beyond it they are sent in chunks, which are not cached. */
const advertisedBefore = new WeakMap<readonly StoredRef[], Map<string, Buffer>>();
const maximumRemembered = 5_000;

/**
 * Undefined where git must answer: HEAD or the hidden refs are not in the form that this product writes.
 * @param never_shown refs, or folders of them, that are hidden besides those that the configuration of the repository names
 */
export async function termsOf(
  repository: Repository,
  service: string,
  never_shown: readonly string[],
): Promise<Terms | undefined> {
  const read = (name: string) => readFile(join(repository.path, name), 'utf8').catch(() => undefined);
  const [config, HEAD, alternates] = await Promise.all(['config', 'HEAD', 'objects/info/alternates'].map(read));
  const branch = /^ref: (refs\/heads\/.+)\n$/.exec(HEAD ?? '')?.[1];
  if (config === undefined || branch === undefined || alternates !== undefined) return undefined;
  const hidden = Array.from(config.matchAll(/^\s*hiderefs\s*=\s*(.*?)\s*$/gim), ([, name]) => name!);
  if (hidden.some((name) => !/^refs\/[\w/]+$/.test(name))) return undefined;
  const isToldHead = service === 'git-upload-pack' && (await readRef(repository, branch)) !== undefined;
  return {
    key: [service, isToldHead, config].join('\0'),
    head: isToldHead ? branch : undefined,
    hidden: [...hidden, ...never_shown],
  };
}

/** Parses the capabilities from what git has advertised to a client. The branch name of HEAD is not cached with them. */
export function learnCapabilities({ key, head }: Terms, advertised: Buffer): void {
  const capabilities = /^[^\0\n]*\0([^\n]*)\n/.exec(advertised.toString('utf8', 0, 4096))?.[1];
  // Otherwise HEAD has moved meanwhile.
  if (capabilities?.includes(' symref=HEAD:') === (head !== undefined))
    known_capabilities.set(key, capabilities.replace(/ symref=HEAD:\S+/, ' symref=HEAD:\0'));
}

/** The refs of a repository as packet lines; undefined when git must answer. */
export async function advertisedRefs(
  repository: Repository,
  service: string,
  terms: Terms,
): Promise<AsyncIterable<Buffer> | undefined> {
  const capabilities = known_capabilities.get(terms.key);
  if (capabilities === undefined) return undefined;
  const all = await refsBelow(repository, 'refs/');
  const key = JSON.stringify([capabilities, terms]);
  const remembered = advertisedBefore.get(all)?.get(key);
  if (remembered) return Readable.from([remembered]);
  const isHidden = (ref: string) => terms.hidden.some((name) => ref === name || ref.startsWith(`${name}/`));
  const refs = all.filter(({ ref }) => !isHidden(ref));
  const head = refs.find(({ ref }) => ref === terms.head);
  // HEAD has moved meanwhile, or has a name that is not UTF-8.
  if ((head === undefined) !== (terms.head === undefined) || refs.some(({ ref }) => ref.includes('\ufffd')))
    return undefined;
  if (refs.length === 0 && service === 'git-upload-pack') return undefined;
  const listed = head ? [{ ref: 'HEAD', id: head.id }, ...refs] : refs;
  const advertised = capabilities.replace('\0', () => terms.head ?? '');
  const chunks = packets(repository, { listed, capabilities: advertised, isPeeled: service === 'git-upload-pack' });
  return all.length > maximumRemembered ? chunks : remembering(chunks, all, key);
}

async function* remembering(
  chunks: AsyncIterable<Buffer>,
  refs: readonly StoredRef[],
  key: string,
): AsyncGenerator<Buffer> {
  const packetsSent: Buffer[] = [];
  for await (const chunk of chunks) {
    packetsSent.push(chunk);
    yield chunk;
  }
  advertisedBefore.set(
    refs,
    (advertisedBefore.get(refs) ?? new Map<string, Buffer>()).set(key, Buffer.concat(packetsSent)),
  );
}

async function* packets(
  repository: Repository,
  { listed, capabilities, isPeeled }: { listed: readonly StoredRef[]; capabilities: string; isPeeled: boolean },
): AsyncGenerator<Buffer> {
  if (listed.length === 0)
    yield Buffer.from(packet(`${'0'.repeat(idLength(capabilities))} capabilities^{}\0${capabilities}\n`));
  for (let at = 0; at < listed.length; at += refs_per_chunk) {
    const refs = listed.slice(at, at + refs_per_chunk);
    const peeled = isPeeled ? await peeledIds(repository, refs) : new Map<string, string | undefined>();
    let lines = '';
    for (const [index, { ref, id }] of refs.entries()) {
      lines += packet(`${id} ${ref}${at + index === 0 ? `\0${capabilities}` : ''}\n`);
      const target = peeled.get(ref);
      if (target !== undefined && target !== id) lines += packet(`${target} ${ref}^{}\n`);
    }
    yield Buffer.from(lines);
  }
  yield Buffer.from('0000');
}

const idLength = (capabilities: string): number => (capabilities.includes('object-format=sha256') ? 64 : 40);

const packet = (text: string): string => `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;

const pointsToCommit = /^HEAD$|^refs\/(?:heads|merge-requests)\//;

/** The peeled objects of refs, by their names. Refs to commits are left out. */
async function peeledIds(repository: Repository, refs: readonly StoredRef[]): Promise<Map<string, string | undefined>> {
  const others = refs.filter(({ ref }) => !pointsToCommit.test(ref));
  const ids = await Promise.all(others.map((ref) => peeledId(repository, ref)));
  return new Map(others.map(({ ref }, index) => [ref, ids[index]]));
}

/** The peeled object of a ref; the object itself when it is not a tag. */
async function peeledId(repository: Repository, { id }: StoredRef): Promise<string | undefined> {
  const key = `${repository.path}\0${id}`;
  const known = peeled_ids.get(key);
  if (known) return known;
  const header = await objectHeader(repository, `${id}^{}`);
  if (header) peeled_ids.set(key, header.id);
  return header?.id;
}
