/** Markdown files of a repository as HTML. */
import { projectPage } from '../../../access/index.ts';
import { inAddress } from '../../../foundation/addresses.ts';
import { toLongHtml } from '../../../markdown/index.ts';
import { type Html, html, type PageCall, sanitised } from '../../../pages/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import type { ShownFile } from './file_queries.ts';
import type { RefPath } from './ref_queries.ts';

export const isMarkdown = (name: string): boolean => /\.(md|markdown|mdown|mkd)$/i.test(name);

/** The file that describes a folder. */
export const isReadme = (name: string): boolean => /^readme(\.[a-z]+)?$/i.test(name);

/** Levels above those of a text: the heading of the page, and that of the file. */
const headingsBelow = 2;

/** The text of a file as HTML: Markdown is rendered, with links and images that lead to other files of the same ref. */
export async function textHtml({ services, caller }: PageCall, place: RefPath, file: ShownFile): Promise<Html> {
  const { text = '' } = file;
  if (!isMarkdown(file.name)) return html`<pre>${text}</pre>`;
  const { db, url } = services;
  const project = projectPage(place.id);
  const inRef = (kind: 'blob' | 'raw') => `${project}/-/${kind}/${inAddress(place.ref)}`;
  const contextOf = async () => ({
    linkOf: await linksFor({ db, caller, url }, text, { full_path: place.id }),
    file: { path: file.path, pages: inRef('blob'), raw: inRef('raw') },
    images_of: url,
  });
  return html`<div class="text">${sanitised(await toLongHtml(text, contextOf, place.commit.project_id), headingsBelow)}</div>`;
}
