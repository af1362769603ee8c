/** Files of a repository: pages, raw bytes, and archives of all files. */

import { highlighted } from '../../../highlighting/index.ts';
import { notFound } from '../../../http/index.ts';
import { type FileParts, filePage, type PageCall, page } from '../../../pages/index.ts';
import { ListedCommit } from '../../code/repository/index.ts';
import { errorMarker } from '../errors/mark_views.ts';
import { type Blob, blobView, type FilePlace } from './blob_views.ts';
import { fileBytes, fileToShow, type ShownFile } from './file_queries.ts';
import { hasLongLine, hasMoreLines } from './line_rules.ts';
import { isRendered, textHtml } from './markdown_present.ts';
import { type RefPath, refNames, refPathOf } from './ref_queries.ts';
import { levelsTo } from './tree_queries.ts';

const svgType = 'image/svg+xml';

/** A file with more lines is unlikely to be hand-written code, and is not highlighted. */
const colouredUpTo_lines = 50_000;

/** The last commit that changed a file. The list of commits takes no statement, unlike a commit with its statuses. */
async function lastCommitOf({ list }: PageCall, { commit }: RefPath, { last_commit_id }: ShownFile) {
  if (last_commit_id === commit.id) return commit;
  const { items } = await list(ListedCommit, 'listCommits', { ref_name: last_commit_id, per_page: 1 });
  return items[0] ?? commit;
}

/** The file at an address, with what is around its content. @throws ApiError 404 if there is none */
export async function filePlaceOf(call: PageCall): Promise<FilePlace> {
  const place = await refPathOf(call);
  const file = await fileToShow(call, place.path, place.commit.id);
  const [last, refs, levels] = await Promise.all([
    lastCommitOf(call, place, file),
    refNames(call),
    levelsTo(call, place),
  ]);
  return { place, file, last, refs, levels };
}

/** The lines of a file as HTML, if it is a program. */
export async function coloursOf({ place, file: { text, name, blob_id } }: FilePlace): Promise<Blob['colours']> {
  const isColoured = text !== undefined && !hasLongLine(text) && !hasMoreLines(text, colouredUpTo_lines);
  return isColoured ? highlighted({ text, file_name: name }, { blob_id, owner: place.commit.project_id }) : undefined;
}

async function load(call: PageCall): Promise<Blob> {
  const shown = await filePlaceOf(call);
  const { place, file } = shown;
  if (isRendered(file) && call.query.plain === undefined)
    return { ...shown, rendered: await textHtml(call, place, file), colours: undefined, marker: undefined };
  const [colours, marker] = await Promise.all([
    coloursOf(shown),
    errorMarker(call, { id: place.commit.project_id, full_path: place.id }),
  ]);
  return { ...shown, rendered: undefined, colours, marker };
}
export const blobPages = page('/:id/-/blob/*ref_path', { is_costly: true, load, view: blobView });

export const rawPages = filePage(
  '/:id/-/raw/*ref_path',
  async (call) => {
    const { path, commit } = await refPathOf(call);
    const { headers, ...file } = await fileBytes(call, path, commit.id);
    // The API sends it as text. Pages send files so that they run nothing, and texts show them as pictures.
    return /\.svg$/i.test(path) ? { ...file, headers: { ...headers, 'content-type': svgType } } : { ...file, headers };
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
