/** Locates files in a repository, and derives facts from their bytes. Facts about a blob never change, so they are cached. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Project } from '../../../access/index.ts';
import {
  blobSize,
  entryAt,
  lastCommitOf,
  type Repository,
  readBlob,
  repositoryOf,
  resolveCommit,
  streamBlob,
} from '../../../git/index.ts';
import { found, type Services } from '../../../http/index.ts';
import { contentType, sniffed_bytes } from '../repository/trees/content_rules.ts';

export interface BlobFacts {
  size_bytes: number;
  /** SHA-256 of the content, in hexadecimal. */
  content_sha256: string;
  content_type: string;
  /** Only for small files. */
  content?: Buffer;
}

/** A file of a commit, before its content is read. */
export interface FileLocation {
  repository: Repository;
  file_name: string;
  file_path: string;
  blob_id: string;
  /** The commit that the ref resolves to. */
  commit_id: string;
  execute_filemode: boolean;
}

export interface FoundFile extends BlobFacts, FileLocation {
  /** The last commit that touched the file. */
  last_commit_id: string;
}

const small_bytes = 256 * 1024;

const known = new LRUCache<string, BlobFacts>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ content }) => 500 + (content?.length ?? 0),
});

async function readFacts(repository: Repository, blob_id: string): Promise<BlobFacts> {
  const size_bytes = await blobSize(repository, blob_id);
  const hash = createHash('sha256');
  if (size_bytes <= small_bytes) {
    const content = await readBlob(repository, blob_id);
    return {
      size_bytes,
      content_sha256: hash.update(content).digest('hex'),
      content_type: contentType(content),
      content,
    };
  }
  let start = Buffer.alloc(0);
  for await (const chunk of streamBlob(repository, blob_id, { reader: 'server' })) {
    hash.update(chunk);
    if (start.length < sniffed_bytes) start = Buffer.concat([start, chunk]);
  }
  return {
    size_bytes,
    content_sha256: hash.digest('hex'),
    content_type: contentType(start),
  };
}

async function blobFacts(repository: Repository, blob_id: string): Promise<BlobFacts> {
  const key = `${repository.path}\0${blob_id}`;
  const before = known.get(key);
  if (before) return before;
  const facts = await readFacts(repository, blob_id);
  known.set(key, facts);
  return facts;
}

/**
 * Locates the file at a path. A symbolic link is a file whose content is its target; it is not followed.
 * @param ref branch, tag or commit; a tag wins over a branch of the same name, as in git
 * @throws ApiError 404 if the ref or the file does not exist, or the path is a folder or submodule
 */
export async function locateFile(
  services: Services,
  project: Project,
  file_path: string,
  ref: string,
): Promise<FileLocation> {
  const repository = repositoryOf(services, project);
  const commit_id = found('Commit', await resolveCommit(repository, ref, { prefer: 'tag' }));
  const entry = await entryAt(repository, commit_id, file_path);
  const file = found('File', entry?.type === 'blob' || entry?.type === 'symlink' ? entry : undefined);
  const execute_filemode = file.mode === '100755';
  return { repository, file_name: file.name, file_path, blob_id: file.id, commit_id, execute_filemode };
}

/** A file with the facts about its content. */
export async function fileIn(location: FileLocation): Promise<FoundFile> {
  const { repository, blob_id, commit_id, file_path } = location;
  const [facts, last_commit_id = commit_id] = await Promise.all([
    blobFacts(repository, blob_id),
    lastCommitOf(repository, commit_id, file_path),
  ]);
  return { ...facts, ...location, last_commit_id };
}

/** The file at a path, located by `locateFile`. */
export const fileAt = async (
  services: Services,
  project: Project,
  file_path: string,
  ref: string,
): Promise<FoundFile> => fileIn(await locateFile(services, project, file_path, ref));
