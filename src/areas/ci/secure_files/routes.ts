/** Secure files: what jobs need and a repository should not have, such as keys and certificates (docs/reference/secure_files.md). */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import {
  type AnyEndpoint,
  bytes,
  checked,
  del,
  deleteFound,
  File,
  get,
  Id,
  nothing,
  one,
  pageOf,
  post,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { disposition } from '../../code/repository/index.ts';
import { secureFileMaintainer, secureFileReader } from './access.ts';
import { addSecureFile, maximumFiles, takenText, tooManyText } from './actions.ts';
import { presentSecureFile, SecureFile } from './present.ts';
import { contentOf, secureFileOf, secureFiles, secureFilesOf } from './queries.ts';
import { isFileName } from './rules.ts';

const path = '/projects/:id/secure_files';
const single = { secure_file_id: Id };
const missing = { 404: '404 Not found' };
const largest_bytes = 5 * 1024 * 1024;

const FileName = checked(Type.String({ description: 'At most 255 characters, of which none is a slash' }), (name) =>
  isFileName(name) ? [] : ['is invalid'],
);

export const secureFileRoutes: readonly AnyEndpoint[] = [
  get(path, {
    operation: 'listSecureFiles',
    summary: 'List the secure files of a project, oldest first',
    access: secureFileReader,
    input: paging,
    returns: pageOf(SecureFile),
    handle: async ({ db, project, input }) =>
      mapPage(await paginate(db, secureFilesOf(db, project.id).orderBy('id'), input), presentSecureFile),
  }),
  get(`${path}/:secure_file_id`, {
    operation: 'getSecureFile',
    summary: 'Get a secure file',
    access: secureFileReader,
    input: single,
    returns: one(SecureFile),
    refusals: missing,
    handle: async ({ db, project, input }) =>
      presentSecureFile(await secureFileOf(db, project.id, input.secure_file_id)),
  }),
  get(`${path}/:secure_file_id/download`, {
    operation: 'downloadSecureFile',
    summary: 'Download a secure file',
    access: secureFileReader,
    input: single,
    returns: bytes(['application/octet-stream'], { 'Content-Disposition': 'The name of the file, to save it' }),
    holds_secrets: true,
    refusals: missing,
    handle: async ({ project, input, ...services }) => {
      const { id, name } = await secureFileOf(services.db, project.id, input.secure_file_id);
      const content = await contentOf(services, id);
      return {
        headers: {
          'content-type': 'application/octet-stream',
          'content-length': String(content.length),
          'content-disposition': disposition('attachment', name),
        },
        body: Readable.from([content]),
      };
    },
  }),
  post(path, {
    operation: 'createSecureFile',
    summary: 'Upload a secure file',
    description: `A project has at most ${maximumFiles} secure files.`,
    access: secureFileMaintainer,
    input: { name: FileName, file: File(secureFiles.kind, largest_bytes) },
    returns: one(SecureFile),
    refusals: { 400: [`name: ${takenText}`, `base: ${tooManyText}`] },
    handle: async ({ project, input: { name, file }, ...services }) =>
      presentSecureFile(await addSecureFile(services, { project_id: project.id, name }, file)),
  }),
  del(`${path}/:secure_file_id`, {
    operation: 'deleteSecureFile',
    summary: 'Delete a secure file',
    access: secureFileMaintainer,
    input: single,
    returns: nothing,
    refusals: missing,
    handle: async ({ db, project, input }) => {
      const { id } = await secureFileOf(db, project.id, input.secure_file_id);
      await deleteFound(db, 'secure_files', id);
    },
  }),
];
