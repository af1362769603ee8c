/** Rendering Markdown files of a repository to HTML. */
import { uploadsPath } from '../../../access/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import { isMarkdownFile, toHtml } from '../../../markdown/index.ts';
import { type Html, html, type PageCall, sanitised } from '../../../pages/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import { throughProxy } from '../../instance/pictures/index.ts';
import type { ShownFile } from './file_queries.ts';
import type { RefPath } from './ref_queries.ts';

/** Longer ones are shown as written, in part: a browser would take seconds to lay them out. The largest READMEs of known projects have half of this. */
const renderedUpTo_chars = 500_000;
const shownUpTo_chars = 200_000;

/** Whether a file is rendered as a document. */
export const isRendered = ({ name, text, is_cut }: ShownFile): boolean =>
  text !== undefined && isMarkdownFile(name) && !is_cut && text.length <= renderedUpTo_chars;

/** Files of a ref, as pages and as raw bytes. */
const blobs = pagePath('/:project/-/blob/:ref');
const raws = pagePath('/:project/-/raw/:ref');

/** The heading levels above the text: the heading of the page, and that of the file. */
const headingsBelow = 2;

/**
 * Renders the start of a file to HTML: Markdown is rendered, with links and images that point to other files of the
 * same ref.
 */
export async function textHtml({ services, caller }: PageCall, place: RefPath, file: ShownFile): Promise<Html> {
  const { text = '' } = file;
  if (!isRendered(file)) return html`<pre>${text.slice(0, shownUpTo_chars)}</pre>`;
  const { db, url } = services;
  const contextOf = async () => ({
    linkOf: await linksFor({ db, caller, url }, text, { full_path: place.id }),
    uploads: uploadsPath('project', place.commit.project_id),
    file: { path: file.path, pages: blobs(place.id, place.ref), raw: raws(place.id, place.ref) },
  });
  return html`<div class="text">${sanitised(throughProxy(services, await toHtml(text, contextOf, place.commit.project_id)), headingsBelow)}</div>`;
}
