/** The content and front matter of pages, cached by blob id. */
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../db/index.ts';
import { TooMuchWaiting } from '../../../foundation/fair_threads.ts';
import { nextTurn } from '../../../foundation/loop_turns.ts';
import { type FrontMatter, frontMatterOf, maximumFrontMatter_bytes } from '../../../front_matter/index.ts';
import { blobSize, type Repository, readBlob, streamBlob } from '../../../git/index.ts';
import { ApiError } from '../../../http/index.ts';
import { admitInJson } from '../repository/trees/size_checks.ts';
import type { Page, Version } from './page_git.ts';

/** The wiki whose pages are read. */
type Wiki = Pick<Version, 'repository' | 'wiki_id'>;

/** A page with information from its content. */
export interface ReadPage extends Page {
  matter: FrontMatter;
  /** Omitted if not requested, or if too large for the list. */
  content?: Buffer;
}

interface Blob {
  repository: Repository;
  blob_id: string;
  /** The wiki that the page belongs to. */
  wiki_id: number;
}

const keyOf = ({ repository, blob_id }: Blob): string => `${repository.path}\0${blob_id}`;

const contents = new LRUCache<string, Buffer>({
  maxSize: 32 * 1024 * 1024,
  // Larger entries are not cached.
  maxEntrySize: 256 * 1024,
  sizeCalculation: ({ length }) => 500 + length,
});

const matters = new LRUCache<string, FrontMatter>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: ({ json }) => 300 + json.length * 2,
});

/** The beginning of a page that can contain front matter, with its delimiter lines. */
const matter_bytes = maximumFrontMatter_bytes + 4096;

/**
 * Runs work in a thread.
 * @throws ApiError 503 if too much work of the same wiki is queued
 */
export async function unlessBusy<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TooMuchWaiting)) throw error;
    throw new ApiError(503, { message: '503 Service Unavailable - The server is too busy' }, { 'retry-after': '10' });
  }
}

async function matterIn(start: Buffer, blob: Blob): Promise<FrontMatter> {
  const known = matters.get(keyOf(blob));
  if (known) return known;
  const matter = await unlessBusy(() => frontMatterOf(start.toString('utf8', 0, matter_bytes), blob.wiki_id));
  matters.set(keyOf(blob), matter);
  return matter;
}

/** The bytes of a page that are read to find its front matter. */
async function beginningOf({ repository, blob_id }: Blob, size_bytes: number): Promise<Buffer> {
  if (size_bytes <= matter_bytes) return readBlob(repository, blob_id);
  const parts: Buffer[] = [];
  let length = 0;
  // Leaving the loop stops git.
  for await (const part of streamBlob(repository, blob_id, { reader: 'server' }) as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length >= matter_bytes) break;
  }
  return Buffer.concat(parts);
}

/** A page with content that was just read or written. */
export async function withContent({ repository, wiki_id }: Wiki, page: Page, content: Buffer): Promise<ReadPage> {
  return { ...page, content, matter: await matterIn(content, { repository, wiki_id, blob_id: page.blob_id }) };
}

/**
 * A page with its content.
 * @throws ApiError 429 for the sixth large page of a wiki in a minute, 413 if it is too large for a JSON reply
 */
export async function readPage(db: Database, { repository, wiki_id }: Wiki, page: Page): Promise<ReadPage> {
  const blob = { repository, wiki_id, blob_id: page.blob_id };
  const known = contents.get(keyOf(blob));
  if (known) return withContent(blob, page, known);
  await admitInJson(db, `wiki:${wiki_id}`, await blobSize(repository, page.blob_id), 'git clone');
  const content = await readBlob(repository, page.blob_id);
  contents.set(keyOf(blob), content);
  return withContent(blob, page, content);
}

/** A page without its content. */
export async function readAbout({ repository, wiki_id }: Wiki, page: Page): Promise<ReadPage> {
  const blob = { repository, wiki_id, blob_id: page.blob_id };
  const known = matters.get(keyOf(blob));
  if (known) return { ...page, matter: known };
  const size_bytes = await blobSize(repository, page.blob_id);
  return { ...page, matter: await matterIn(await beginningOf(blob, size_bytes), blob) };
}

/** Larger pages are listed without their content. */
const listedContent_bytes = 10 * 1024 * 1024;
/** The most content of a list in memory at once, except for a single larger page. */
const together_bytes = 4 * 1024 * 1024;
const pagesTogether = 25;

interface Listed {
  page: Page;
  /** The number of bytes to read of it. */
  size_bytes: number;
}

/** Splits pages into groups that are read at once. */
function* groupsOf(pages: readonly Listed[]): Generator<Listed[]> {
  let group: Listed[] = [];
  let sum_bytes = 0;
  for (const each of pages) {
    if (group.length > 0 && sum_bytes + each.size_bytes > together_bytes) {
      yield group;
      [group, sum_bytes] = [[], 0];
    }
    group.push(each);
    sum_bytes += each.size_bytes;
  }
  yield group;
}

/**
 * Pages of a wiki in order, read lazily.
 * @param with_content whether to read more than the front matter
 */
export async function* readPages(
  { repository, wiki_id }: Wiki,
  pages: readonly Page[],
  { with_content }: { with_content: boolean },
): AsyncGenerator<ReadPage> {
  const blobOf = ({ blob_id }: Page): Blob => ({ repository, wiki_id, blob_id });
  const sizeOf = async (page: Page): Promise<Listed> => ({
    page,
    size_bytes: with_content || !matters.has(keyOf(blobOf(page))) ? await blobSize(repository, page.blob_id) : 0,
  });
  const read = async ({ page, size_bytes }: Listed): Promise<ReadPage> => {
    const blob = blobOf(page);
    if (with_content && size_bytes <= listedContent_bytes)
      return withContent(blob, page, await readBlob(repository, page.blob_id));
    return { ...page, matter: matters.get(keyOf(blob)) ?? (await matterIn(await beginningOf(blob, size_bytes), blob)) };
  };
  for (let at = 0; at < pages.length; at += pagesTogether) {
    const listed = await Promise.all(pages.slice(at, at + pagesTogether).map(sizeOf));
    for (const group of groupsOf(listed)) yield* await Promise.all(group.map(read));
    // Cached values are awaited without yielding to the event loop.
    await nextTurn();
  }
}
