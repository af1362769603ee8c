/** Files of a repository: pages, raw bytes, and archives of all files. */

import { highlighted } from '../../../highlighting/index.ts';
import { notFound } from '../../../http/index.ts';
import { type FileParts, filePage, type PageCall, page } from '../../../pages/index.ts';
import { type Blob, blobView } from './blob_views.ts';
import { fileBytes, fileToShow } from './file_queries.ts';
import { hasLongLine, hasMoreLines } from './line_rules.ts';
import { isRendered, textHtml } from './markdown_present.ts';
import { refPathOf } from './ref_queries.ts';

/** A file with more lines is unlikely to be hand-written code, and is not highlighted. */
const colouredUpTo_lines = 50_000;

async function load(call: PageCall): Promise<Blob> {
  const place = await refPathOf(call);
  const file = await fileToShow(call, place.path, place.commit.id);
  const { text, name, blob_id } = file;
  if (isRendered(file) && call.query.plain === undefined)
    return { place, file, rendered: await textHtml(call, place, file), colours: undefined };
  const isColoured = text !== undefined && !hasLongLine(text) && !hasMoreLines(text, colouredUpTo_lines);
  const colours = isColoured
    ? await highlighted({ text, file_name: name }, { blob_id, owner: place.commit.project_id })
    : undefined;
  return { place, file, rendered: undefined, colours };
}

export const blobPages = page('/:id/-/blob/*ref_path', { is_costly: true, load, view: blobView });

export const rawPages = filePage(
  '/:id/-/raw/*ref_path',
  async (call) => {
    const { path, commit } = await refPathOf(call);
    return fileBytes(call, path, commit.id);
  },
  { is_costly: true },
);

const archiveName = /^(.+)\/[^/]*?\.(tar\.gz|tar\.bz2|tgz|tbz2?|tar|zip)$/;
const shortArchiveName = /^(.+)\.(tar\.gz|tar\.bz2|tgz|tbz2?|tar|zip)$/;

/** The ref, then a name of which only the extension matters; or the ref with an extension. */
function archive({ params, query, bytes }: PageCall): Promise<FileParts> {
  const [, sha, format] = archiveName.exec(params.name!) ?? shortArchiveName.exec(params.name!) ?? [];
  if (sha === undefined) throw notFound('Page');
  const path = typeof query.path === 'string' ? { path: query.path } : {};
  return bytes('downloadArchiveInFormat', { sha, format, ...path });
}

export const archivePages = filePage('/:id/-/archive/*name', archive, { is_costly: true });
