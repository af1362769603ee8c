/** Repository files: reads, blames and writes one file of a repository (docs/reference/repository_files.md). */
import { type Static, type TObject, Type } from 'typebox';
import { branchWriter, codeReader, type Project } from '../../../access/index.ts';
import {
  AnyText,
  allOptional,
  bytes,
  type Caller,
  del,
  get,
  type Headers,
  head,
  headersOnly,
  leftOutIfBlank,
  NotBlank,
  nothing,
  one,
  optional,
  post,
  put,
  refusedAs,
  type Services,
  withHeaders,
} from '../../../http/index.ts';
import { readObject } from '../lfs/queries.ts';
import { fileTexts, tooLargeText } from '../repository/push_checks/refusal_rules.ts';
import { contentIn } from '../repository/rules.ts';
import { contentTypes } from '../repository/trees/content_rules.ts';
import { writeFile } from './actions.ts';
import { blameOf, fileWithContent, largeFileOf, largeHeaders, rawBody, rawHeaders } from './content_present.ts';
import { fileAt, fileIn, locateFile } from './git.ts';
import { BlameRange, describedHeaders, FileWrite, fileHeaders, RepositoryFile } from './present.ts';

/** A body of 10 MiB in Base64, escaped as a form, is four times as long; larger ones are for `git push`. */
const bodyLimit_bytes = 100 * 1024 * 1024;

/** No component is `..`, and only what `start` allows comes before the first one. */
const pathAfter = (start: string) =>
  refusedAs(
    'should be a valid file path',
    Type.String({
      pattern: `^${start}(?!/)(?![^]*(?<![^/\\\\])\\.\\.(?![^/\\\\]))[^]*$`,
      description: 'URL-encoded path of the file',
    }),
  );
const FilePath = pathAfter('');
const RawFilePath = pathAfter('/?');
const Ref = NotBlank({ description: 'Branch, tag or commit' });
const atRef = { file_path: FilePath, ref: Ref };
const Line = Type.Integer({ minimum: 1 });

const person = {
  start_branch: Type.String({ description: 'The branch that a new branch starts from' }),
  author_email: leftOutIfBlank(Type.String({ maxLength: 255, description: 'Defaults to the caller' })),
  author_name: leftOutIfBlank(Type.String({ maxLength: 255, description: 'Defaults to the caller' })),
};
const commit = {
  branch: NotBlank({ description: 'The branch to commit to' }),
  commit_message: NotBlank(),
  ...allOptional(person),
};
const written = {
  file_path: FilePath,
  ...commit,
  content: AnyText(),
  encoding: Type.Enum(['text', 'base64'], { default: 'text', description: 'How `content` is encoded' }),
  execute_filemode: optional(Type.Boolean({ description: 'Whether the file is executable' })),
};
const last_commit_id = optional(Type.String({ description: 'Last commit of the file known to the caller' }));

type Written = Static<TObject<typeof written>> & { last_commit_id?: string };

/** Commits the sent content, and returns its location. */
async function write(
  services: Services,
  { project, caller }: { project: Project; caller: Caller },
  input: Written,
  action: 'create' | 'update',
): Promise<Static<typeof FileWrite>> {
  const { file_path, branch, encoding } = input;
  const content = await contentIn('content', input.content, encoding);
  await writeFile(services, { project, caller, ...input }, { action, ...input, content });
  return { file_name: file_path.slice(file_path.lastIndexOf('/') + 1), file_path, branch };
}

const raw = {
  file_path: RawFilePath,
  ref: optional(Type.String({ description: 'Branch, tag or commit; the default branch if left out' })),
  lfs: Type.Boolean({ default: false, description: 'Whether to send the Git LFS object instead of its pointer' }),
};

/** The requested file, and the large file whose bytes are sent instead. */
async function rawAt(services: Services, project: Project, { file_path, ref = '', lfs }: Static<TObject<typeof raw>>) {
  const file = await fileAt(services, project, file_path.replace(/^\//, ''), ref || project.default_branch);
  return { file, ref, object: lfs ? await largeFileOf(services, project, file) : undefined };
}

const json = (headers: Headers): Headers => ({ ...headers, 'content-type': 'application/json' });
/** The reply to `HEAD` for a file and for its blame. */
const headersAt = async (services: Services, project: Project, { file_path, ref }: Static<TObject<typeof atRef>>) =>
  json(fileHeaders(await fileAt(services, project, file_path, ref), ref));

const path = '/projects/:id/repository/files/:file_path';
const fileNotFound = ['404 Commit Not Found', '404 File Not Found'];
const fileWriteTexts = ['You are not allowed to push into this branch', ...fileTexts];
const throttle = 'files_api';
const reading = { access: codeReader, scopes: ['read_repository'], throttle } as const;
const rawReading = { ...reading, deploy_tokens: true } as const;
const writing = { access: branchWriter, throttle, body_limit_bytes: bodyLimit_bytes } as const;

export const repositoryFiles = [
  get(path, {
    description:
      'A project serves at most five files above 10 MiB per minute, and none above 128 MiB. `/raw` has no limit.',
    operation: 'getFile',
    summary: 'Get a file',
    ...reading,
    input: atRef,
    returns: withHeaders(RepositoryFile, describedHeaders),
    refusals: {
      404: fileNotFound,
      413: tooLargeText,
      429: tooLargeText,
    },
    handle: async ({ project, input, ...services }) => {
      const file = await fileAt(services, project, input.file_path, input.ref);
      return {
        body: await fileWithContent(services.db, project, file, input.ref),
        headers: fileHeaders(file, input.ref),
      };
    },
  }),
  head(path, {
    operation: 'getFileMetadata',
    summary: 'Get the metadata of a file',
    ...reading,
    input: atRef,
    returns: headersOnly(describedHeaders),
    refusals: { 404: fileNotFound },
    handle: ({ project, input, ...services }) => headersAt(services, project, input),
  }),
  get(`${path}/blame`, {
    description: 'Files of up to 32 MiB can be blamed.',
    operation: 'getFileBlame',
    summary: 'Get the blame of a file',
    ...reading,
    input: { ...atRef, range: optional(Type.Object({ start: Line, end: Line })) },
    returns: withHeaders(Type.Array(BlameRange), describedHeaders),
    refusals: {
      400: ['range[start] must be less than or equal to range[end]', 'range is outside of the bounds of the blob'],
      404: fileNotFound,
      413: '413 Request Entity Too Large',
    },
    handle: async ({ project, input, ...services }) => {
      const location = await locateFile(services, project, input.file_path, input.ref);
      const file = await fileIn(location);
      // Commits after the last one of the file do not change its blame.
      const body = await blameOf({ ...location, commit_id: file.last_commit_id }, input.range);
      return { body, headers: fileHeaders(file, input.ref) };
    },
  }),
  head(`${path}/blame`, {
    operation: 'getFileBlameMetadata',
    summary: 'Get the metadata of a blame',
    ...reading,
    input: atRef,
    returns: headersOnly(describedHeaders),
    refusals: { 404: fileNotFound },
    handle: ({ project, input, ...services }) => headersAt(services, project, input),
  }),
  get(`${path}/raw`, {
    operation: 'getRawFile',
    summary: 'Get a raw file',
    ...rawReading,
    input: raw,
    returns: bytes(contentTypes, describedHeaders),
    refusals: { 404: fileNotFound },
    handle: async ({ project, input, ...services }) => {
      const { file, ref, object } = await rawAt(services, project, input);
      return object
        ? { body: await readObject(services, object), headers: largeHeaders(file, ref, object) }
        : { body: rawBody(file), headers: rawHeaders(file, ref) };
    },
  }),
  head(`${path}/raw`, {
    operation: 'getRawFileMetadata',
    summary: 'Get the metadata of a raw file',
    ...rawReading,
    input: raw,
    returns: headersOnly(describedHeaders),
    refusals: { 404: fileNotFound },
    handle: async ({ project, input, ...services }) => {
      const { file, ref, object } = await rawAt(services, project, input);
      return object ? largeHeaders(file, ref, object) : rawHeaders(file, ref);
    },
  }),
  post(path, {
    description: 'The body has at most 100 MiB.',
    operation: 'createFile',
    summary: 'Create a file',
    ...writing,
    input: written,
    returns: one(FileWrite),
    refusals: { 400: [...fileWriteTexts] },
    handle: ({ project, caller, input, ...services }) => write(services, { project, caller }, input, 'create'),
  }),
  put(path, {
    description: 'The body has at most 100 MiB.',
    operation: 'updateFile',
    summary: 'Update a file',
    ...writing,
    input: { ...written, last_commit_id },
    returns: one(FileWrite),
    refusals: {
      400: ['You are attempting to update a file that has changed since you started editing it.', ...fileWriteTexts],
    },
    handle: ({ project, caller, input, ...services }) => write(services, { project, caller }, input, 'update'),
  }),
  del(path, {
    description: 'The body has at most 100 MiB.',
    operation: 'deleteFile',
    summary: 'Delete a file',
    ...writing,
    input: { file_path: FilePath, ...commit, last_commit_id },
    returns: nothing,
    refusals: {
      400: ['You are attempting to delete a file that has been previously updated.', ...fileWriteTexts],
    },
    handle: async ({ project, caller, input, ...services }) => {
      await writeFile(services, { project, caller, ...input }, { action: 'delete', ...input });
    },
  }),
];
