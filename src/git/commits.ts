/** Commits, parsed and cached: the commit with an id never changes. */
import { LRUCache } from 'lru-cache';
import { fullId } from './ids.ts';
import { storedObject } from './readers.ts';
import { trailersOf } from './trailers.ts';
import type { Commit, OriginalTexts, Person, Repository } from './types.ts';

const maximumTitle = 80;

const commits = new LRUCache<string, Commit>({
  maxSize: 32 * 1024 * 1024,
  sizeCalculation: (commit) => 1_000 + commit.message.length * 4,
});

/** The commit with this full id. Throws when the repository has no such commit, or `id` is not a full id. It is shared, so callers must not change it. */
export async function readCommit(repository: Repository, id: string): Promise<Commit> {
  const key = `${repository.path}\0${fullId(id)}`;
  const known = commits.get(key);
  if (known) return known;
  const object = await storedObject(repository, id);
  if (object?.type !== 'commit') throw new Error(`${id} is not a commit of ${repository.path}`);
  const commit = parseCommit(object.id, object.content);
  commits.set(key, commit);
  return commit;
}

/** The cached commit with this full id, if any. */
export const keptCommit = (repository: Repository, id: string): Commit | undefined =>
  commits.get(`${repository.path}\0${fullId(id)}`);

/** Caches a commit that has just been stored. */
export const keepCommit = (repository: Repository, id: string, content: Buffer): void => {
  commits.set(`${repository.path}\0${id}`, parseCommit(id, content));
};

/** Reads the bytes of a commit. Missing or malformed parts become empty, because old tools wrote many odd commits. */
export function parseCommit(id: string, content: Buffer): Commit {
  const { headers, message } = parseObject(content);
  const author = parsePerson(headers.get('author')?.[0]);
  const committer = parsePerson(headers.get('committer')?.[0]);
  const found = trailersOf(message);
  return {
    id,
    parent_ids: headers.get('parent') ?? [],
    tree_id: headers.get('tree')?.[0] ?? '',
    title: titleOf(message),
    message,
    author_name: author.name,
    author_email: author.email,
    authored_date: author.date,
    committer_name: committer.name,
    committer_email: committer.email,
    committed_date: committer.date,
    trailers: Object.fromEntries(found.map(({ key, value }) => [key, value])),
    extended_trailers: Object.fromEntries(
      Object.entries(Object.groupBy(found, ({ key }) => key)).map(([key, all]) => [
        key,
        (all ?? []).map(({ value }) => value),
      ]),
    ),
  };
}

/** The headers (without continuation lines, which only signatures have) and the message of a commit or a tag. */
export function parseObject(content: Buffer): { headers: Map<string, string[]>; message: string } {
  const { head, message, encoding } = partsOf(content);
  const headers = new Map<string, string[]>();
  for (const line of decode(head, encoding).split('\n')) {
    const space = line.indexOf(' ');
    if (space <= 0) continue;
    const key = line.slice(0, space);
    const values = headers.get(key);
    if (values) values.push(line.slice(space + 1));
    else headers.set(key, [line.slice(space + 1)]);
  }
  return { headers, message: decode(message, encoding) };
}

function partsOf(content: Buffer): { head: Buffer; message: Buffer; encoding: string | undefined } {
  const split = content.indexOf('\n\n');
  const head = split < 0 ? content : content.subarray(0, split);
  const message = split < 0 ? Buffer.alloc(0) : content.subarray(split + 2);
  return { head, message, encoding: /^encoding (.*)$/m.exec(head.toString('latin1'))?.[1] };
}

/** A well-formed author by git's rules. git's seconds go far beyond the calendar. */
const sound_author = /^[^<>]* <[^<>]*> (?:0|[1-9]\d{0,17}) [+-]\d{4}$/;

/**
 * The author and the message of a commit, for a commit derived from it. As with `git rebase`, they stay byte by byte, except that the texts of a commit with another
 * declared encoding are converted to UTF-8. If the author is malformed, its seconds and zone are kept where present.
 * @throws Error when the repository has no such commit
 */
export async function originalTexts(repository: Repository, id: string): Promise<OriginalTexts> {
  const object = await storedObject(repository, fullId(id));
  if (object?.type !== 'commit') throw new Error(`${id} is not a commit of ${repository.path}`);
  const { head, message, encoding } = partsOf(object.content);
  const decoder = decoderFor(encoding);
  const inUtf8 = (bytes: Buffer) => (decoder ? Buffer.from(decoder.decode(bytes)) : bytes);
  const line = /^author ([^\n]*)$/m.exec(head.toString('latin1'))?.[1] ?? '';
  const bytes = Buffer.from(line, 'latin1');
  if (sound_author.test(line)) return { author: inUtf8(bytes), message: inUtf8(message) };
  const [, seconds = '0', zone = '+0000'] = /> *(-?\d+)?(?: ([+-]\d{4})$)?/.exec(line) ?? [];
  const author = formatPerson(parsePerson(decode(bytes, encoding)), `${seconds} ${zone}`);
  return { author: Buffer.from(author), message: inUtf8(message) };
}

/**
 * `Name <email> time`, for a header of a commit or a tag. Angle brackets and line ends would end the name or the header, and git drops them too.
 * @param time seconds since 1970 and the zone, as in `1700000000 +0530`
 */
export function formatPerson({ name, email }: Omit<Person, 'date'>, time: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not be in a header.
  const clean = (text: string) => text.replace(/\s*[\x00-\x1f<>]+\s*/g, ' ').trim();
  const address = clean(email);
  return `${clean(name) || address || 'unknown'} <${address}> ${time}`;
}

/** The years 1 to 9999, which PostgreSQL and JSON can represent; a commit may claim any. */
const calendar_ms = { first: -62_135_596_800_000, last: 253_402_300_799_000 };

/** `Name <email> seconds zone`; any part may be missing. A time beyond the calendar is shown as 1970, as git does. */
export function parsePerson(line = ''): { name: string; email: string; date: string } {
  const match = /^(.*?) ?<([^>]*)>(?: (-?\d+))?/s.exec(line);
  const milliseconds = Number(match?.[3] ?? 0) * 1000;
  const isShown = milliseconds >= calendar_ms.first && milliseconds <= calendar_ms.last;
  const date = new Date(isShown ? milliseconds : 0);
  return { name: match?.[1]?.trim() ?? '', email: match?.[2] ?? '', date: date.toISOString() };
}

/** The first line of a message, at most 80 characters, cut at a word. */
export function titleOf(message: string): string {
  const line = message.trimStart().split('\n', 1)[0]!.trimEnd();
  const characters = [...line];
  if (characters.length <= maximumTitle) return line;
  const start = characters.slice(0, maximumTitle - 1).join('');
  const is_whole_word = characters[maximumTitle - 1] === ' ';
  const space = is_whole_word ? -1 : start.lastIndexOf(' ');
  return `${(space > 0 ? start.slice(0, space) : start).trimEnd()}…`;
}

const decode = (bytes: Buffer, encoding: string | undefined): string =>
  decoderFor(encoding)?.decode(bytes) ?? bytes.toString('utf8');

/** For a declared encoding other than UTF-8; undefined when it is unknown. */
function decoderFor(encoding: string | undefined) {
  if (!encoding || /^utf-?8$/i.test(encoding)) return undefined;
  try {
    return new TextDecoder(encoding);
  } catch {
    return undefined;
  }
}
