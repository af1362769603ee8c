/** Archives: all files of a commit in one file (docs/reference/repository.md). They are generated while being sent, and never stored. */
import { Type } from 'typebox';
import { codeDownloader, type Project } from '../../../../access/index.ts';
import {
  type ArchiveFormat,
  entryAt,
  isArchiveFormatKnown,
  type Repository,
  repositoryOf,
  resolveCommit,
  streamArchive,
} from '../../../../git/index.ts';
import {
  ApiError,
  bytes,
  found,
  get,
  type Headers,
  head,
  headersOnly,
  notFound,
  optional,
  type Services,
} from '../../../../http/index.ts';
import { isLfsEnabled, largeFileReader } from '../../lfs/queries.ts';
import { trimmedPath } from '../rules.ts';
import { disposition, headerValue, uncached } from './content_rules.ts';

const extensions: Readonly<Record<string, ArchiveFormat>> = {
  'tar.gz': 'tar.gz',
  tgz: 'tar.gz',
  gz: 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  tar: 'tar',
  zip: 'zip',
};
const contentTypes: Record<ArchiveFormat, string> = {
  'tar.gz': 'application/gzip',
  'tar.bz2': 'application/x-bzip2',
  tar: 'application/x-tar',
  zip: 'application/zip',
};

async function formatOf(extension: string): Promise<ArchiveFormat> {
  const format = Object.hasOwn(extensions, extension) ? extensions[extension] : undefined;
  if (format !== undefined && (await isArchiveFormatKnown(format))) return format;
  const text = `The requested format '${extension}' is not supported.`;
  throw new ApiError(406, { message: text, error: text });
}

interface Archive {
  repository: Repository;
  commit_id: string;
  format: ArchiveFormat;
  path: string;
  /** The file name without its extension, and the name of the top-level folder. */
  folder: string;
  file_name: string;
}

interface ArchiveRequest {
  /** `tar.gz` by default. */
  format?: string;
  sha?: string;
  path?: string;
}

async function archiveOf(services: Services, project: Project, asked: ArchiveRequest): Promise<Archive> {
  const extension = asked.format ?? 'tar.gz';
  const format = await formatOf(extension);
  const repository = repositoryOf(services, project);
  const ref = asked.sha || project.default_branch;
  const commit_id = found('File', await resolveCommit(repository, ref));
  const path = trimmedPath(asked.path ?? '');
  if ((await entryAt(repository, commit_id, path)) === undefined) throw notFound('File');
  const parts = [project.path, ref.replace(/^refs\/(heads|tags)\//, ''), commit_id, ...(path === '' ? [] : [path])];
  const folder = parts.map((part) => part.replaceAll('/', '-')).join('-');
  return { repository, commit_id, format, path, folder, file_name: `${folder}.${extension}` };
}

const headersOf = ({ format, file_name }: Archive): Headers => ({
  'content-type': contentTypes[format],
  'content-disposition': headerValue(disposition('attachment', file_name)),
  'content-transfer-encoding': 'binary',
  ...uncached,
});

/** git holds a large file in memory while archiving it. */
const largest_bytes = 1024 * 1024 * 1024;

const input = {
  sha: optional(Type.String({ description: 'Branch, tag or commit; the default branch if left out' })),
  path: optional(Type.String({ description: 'Only this file or folder' })),
  include_lfs_blobs: Type.Boolean({
    default: true,
    description: 'Include the contents of Git LFS objects instead of their pointers, up to 1 GiB',
  }),
};
const Format = Type.String({ description: Object.keys(extensions).join(', ') });
const reading = { access: codeDownloader, scopes: ['read_repository'] };
const path = '/projects/:id/repository/archive';

export const archiveRoutes = [
  ...([path, `${path}.:format`] as const).flatMap((at) => {
    const declared = { ...reading, input: at === path ? input : { ...input, format: Format } };
    const name = at === path ? 'Archive' : 'ArchiveInFormat';
    return [
      get(at, {
        operation: `download${name}`,
        summary: 'Download an archive of a repository',
        ...declared,
        returns: bytes(Object.values(contentTypes)),
        refusals: { 404: '404 File Not Found', 406: "The requested format '<format>' is not supported." },
        handle: async ({ project, input: asked, ...services }) => {
          const archive = await archiveOf(services, project, asked);
          const withLargeFiles = asked.include_lfs_blobs && (await isLfsEnabled(services.db, project.id));
          const largeFiles = withLargeFiles ? largeFileReader(services, project.id, largest_bytes) : undefined;
          const body = streamArchive(archive.repository, archive.commit_id, {
            ...archive,
            largeFiles,
            signal: services.left(),
          });
          return { body, headers: headersOf(archive) };
        },
      }),
      head(at, {
        operation: `check${name}`,
        summary: 'Check whether an archive is available',
        ...declared,
        returns: headersOnly({}),
        refusals: { 404: '404 File Not Found', 406: "The requested format '<format>' is not supported." },
        handle: async ({ project, input: asked, ...services }) => headersOf(await archiveOf(services, project, asked)),
      }),
    ];
  }),
];
