/** Files in replies and headers (docs/reference/repository_files.md). */
import { type Static, Type } from 'typebox';
import { Base64, type Headers, resource } from '../../../http/index.ts';
import { commitCore } from '../repository/present.ts';
import { headerValue } from '../repository/trees/content_rules.ts';
import type { FoundFile } from './git.ts';

export const RepositoryFile = resource('RepositoryFile', {
  file_name: Type.String(),
  file_path: Type.String(),
  size: Type.Integer({ description: 'In bytes' }),
  encoding: Type.Enum(['base64']),
  content_sha256: Type.String(),
  ref: Type.String({ description: 'As requested' }),
  blob_id: Type.String(),
  commit_id: Type.String({ description: 'The commit of the ref' }),
  last_commit_id: Type.String({ description: 'The last commit that touched the file' }),
  execute_filemode: Type.Boolean(),
  content: Base64,
});

export const FileWrite = resource('FileWrite', {
  file_name: Type.String(),
  file_path: Type.String(),
  branch: Type.String(),
});

export const BlameRange = resource('BlameRange', {
  commit: Type.Object(commitCore),
  lines: Type.Array(Type.String()),
});

const facts = {
  'File-Name': 'Name of the file',
  'File-Path': 'Path of the file',
  Size: 'Size in bytes',
  Encoding: '`base64`',
  'Content-Sha256': 'SHA-256 of the content',
  Ref: 'The ref as requested',
  'Blob-Id': 'ID of the blob',
  'Commit-Id': 'ID of the commit of the ref',
  'Last-Commit-Id': 'ID of the last commit that touched the file',
  'Execute-Filemode': '`true` for an executable file',
};
/** The prefix of the specification, and the prefix that clients read. */
const prefixes = ['X-Service-', 'X-Gitlab-'];

/** The headers of `fileHeaders` with descriptions, for the documentation. */
export const describedHeaders: Headers = Object.fromEntries(
  prefixes.flatMap((prefix) => Object.entries(facts).map(([name, meaning]) => [`${prefix}${name}`, meaning])),
);

type Fact = keyof typeof facts;
/** The header names of each fact, in lower case as sent. */
const namesOf = Object.keys(facts).map((fact) => ({
  fact: fact as Fact,
  names: prefixes.map((prefix) => `${prefix}${fact}`.toLowerCase()),
}));

/** @param ref as requested; empty if omitted */
export function fileHeaders(file: FoundFile, ref: string): Headers {
  const values: Record<Fact, string> = {
    'File-Name': headerValue(file.file_name),
    'File-Path': headerValue(file.file_path),
    Size: String(file.size_bytes),
    Encoding: 'base64',
    'Content-Sha256': file.content_sha256,
    Ref: headerValue(ref),
    'Blob-Id': file.blob_id,
    'Commit-Id': file.commit_id,
    'Last-Commit-Id': file.last_commit_id,
    'Execute-Filemode': String(file.execute_filemode),
  };
  const headers: Headers = {};
  for (const { fact, names } of namesOf) for (const name of names) headers[name] = values[fact];
  return headers;
}

/** @param content all bytes of the file */
export const presentFile = (file: FoundFile, ref: string, content: Buffer): Static<typeof RepositoryFile> => ({
  file_name: file.file_name,
  file_path: file.file_path,
  size: file.size_bytes,
  encoding: 'base64',
  content_sha256: file.content_sha256,
  ref,
  blob_id: file.blob_id,
  commit_id: file.commit_id,
  last_commit_id: file.last_commit_id,
  execute_filemode: file.execute_filemode,
  content,
});
