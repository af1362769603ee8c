/** Files for Markdown texts, of a project or a group (docs/reference/uploads.md). */

import { Type } from 'typebox';
import { type Owner, uploadsPath } from '../../../access/index.ts';
import {
  capitalized,
  del,
  File,
  fileReply,
  get,
  Id,
  nothing,
  nullable,
  one,
  pageOf,
  post,
  type Reading,
  resource,
  type Services,
  storedFile,
  Timestamp,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { mediaType, mediaTypes } from '../../../markdown/index.ts';
import { disposition } from '../../code/repository/index.ts';
import { uploadReader, uploadRole } from './access.ts';
import { addUpload, removeUpload } from './actions.ts';
import { listedUploads, type Upload, uploadAt, uploadById } from './queries.ts';
import { linkTo, type UploadOwner } from './rules.ts';

const UploadCreated = resource('UploadCreated', {
  id: Id,
  alt: Type.String({ description: 'The name, of images, video and audio without its extension' }),
  url: Type.String({ description: 'For texts of the same project or group' }),
  full_path: Type.String({ description: 'The path on the server' }),
  markdown: Type.String({ description: 'The link, or what shows the image, video or audio' }),
});

const UploadForm = resource('Upload', {
  id: Id,
  size: Type.Integer({ description: 'In bytes' }),
  filename: Type.String(),
  created_at: Timestamp,
  uploaded_by: nullable(Type.Object({ id: Id, name: Type.String(), username: Type.String() })),
});

const addressed = {
  secret: Type.String({ description: '32 characters' }),
  filename: Type.String({ description: 'As in `url`' }),
};
const lost = { 404: ['404 Not found', '404 Not Found'], 416: '416 Range Not Satisfiable' };
const headers = {
  'Content-Disposition': 'The name of the file, to save it',
  'Content-Range': 'The part that was requested',
};

/** The API's download of an upload: always as an attachment. */
const download = ({ blobs }: Pick<Services, 'blobs'>, upload: Upload, reading: Reading) =>
  fileReply(blobs, { key: upload.blob_key, size_bytes: upload.size_bytes, etag: upload.sha256 }, reading, {
    'content-type': mediaType(upload.filename),
    'content-disposition': disposition('attachment', upload.filename),
    'cache-control': 'max-age=0, private, must-revalidate',
  });

const placeIn = ({ project_id, group_id }: Owner): [UploadOwner, number] =>
  project_id === null ? ['group', group_id!] : ['project', project_id];

function routesOf(place: UploadOwner) {
  const base = `/${place}s/:id/uploads`;
  const Noun = capitalized(place);
  const maintainer = uploadRole(place, 'maintainer');
  return [
    post(base, {
      operation: `create${Noun}Upload`,
      summary: `Upload a file for the texts of a ${place}`,
      description: 'The file has at most as many MiB as the application setting `max_attachment_size` says.',
      access: uploadRole(place, 'guest'),
      input: { file: File('uploads', 'max_attachment_size') },
      returns: one(UploadCreated),
      handle: async ({ db, caller, owner, input }) => {
        const { id, ...address } = await addUpload(db, owner, caller.id, input.file);
        const link = linkTo(address);
        return { id, ...link, full_path: `${uploadsPath(...placeIn(owner))}${link.url.slice('/uploads'.length)}` };
      },
    }),
    get(base, {
      operation: `list${Noun}Uploads`,
      summary: `List the uploads of a ${place}, newest first`,
      access: maintainer,
      input: paging,
      returns: pageOf(UploadForm),
      handle: ({ db, owner, input }) => paginate(db, listedUploads(db, owner), input),
    }),
    get(`${base}/:upload_id`, {
      operation: `download${Noun}Upload`,
      summary: `Download an upload of a ${place} by its ID`,
      access: maintainer,
      input: { upload_id: Id },
      returns: storedFile(mediaTypes, headers),
      refusals: lost,
      handle: async ({ db, blobs, owner, reading, input }) =>
        download({ blobs }, await uploadById(db, owner, input.upload_id), reading),
    }),
    get(`${base}/:secret/:filename`, {
      operation: `download${Noun}UploadBySecret`,
      summary: `Download an upload of a ${place} by its secret and name`,
      access: uploadReader(place),
      input: addressed,
      returns: storedFile(mediaTypes, headers),
      refusals: lost,
      handle: async ({ db, blobs, owner, reading, input }) =>
        download({ blobs }, await uploadAt(db, owner, input), reading),
    }),
    del(`${base}/:upload_id`, {
      operation: `delete${Noun}Upload`,
      summary: `Delete an upload of a ${place} by its ID`,
      access: maintainer,
      input: { upload_id: Id },
      returns: nothing,
      refusals: { 404: lost[404] },
      handle: async ({ db, blobs, owner, input }) =>
        removeUpload({ db, blobs }, await uploadById(db, owner, input.upload_id)),
    }),
    del(`${base}/:secret/:filename`, {
      operation: `delete${Noun}UploadBySecret`,
      summary: `Delete an upload of a ${place} by its secret and name`,
      access: maintainer,
      input: addressed,
      returns: nothing,
      refusals: { 404: lost[404] },
      handle: async ({ db, blobs, owner, input }) => removeUpload({ db, blobs }, await uploadAt(db, owner, input)),
    }),
  ];
}

export const uploadRoutes = [...routesOf('project'), ...routesOf('group')];
