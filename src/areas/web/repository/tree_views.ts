/** Views of folders. */
import { commitKind } from '../../../access/index.ts';
import { type Content, day, type Html, html, pager, type Seen, time } from '../../../pages/index.ts';
import { archivePage, blobPage, treePage } from '../../code/repository/index.ts';
import { commitsPage, joined, newFilePage, newFolderPage, uploadPage } from './address_rules.ts';
import type { RefPath } from './ref_queries.ts';
import type { ShownFolder } from './tree_queries.ts';

/** Breadcrumbs from the root of the ref to a path, each part a link to its folder. */
export function pathLinks({ id, ref, path }: Pick<RefPath, 'id' | 'ref' | 'path'>): Html {
  const names = path === '' ? [] : path.split('/');
  const steps = names.map((name, index) => {
    const isLast = index === names.length - 1;
    const folder = names.slice(0, index + 1).join('/');
    return html`<li>${isLast ? html`<span aria-current="page">${name}</span>` : html`<a href="${treePage(id, joined(ref, folder))}">${name}</a>`}</li>`;
  });
  return html`<nav class="trail path" aria-label="Path in the repository"><ol><li><a href="${treePage(id, ref)}">${ref}</a></li>${steps}</ol></nav>`;
}

/** The commit that a ref points to. */
export const lastCommit = ({ commit }: RefPath): Html =>
  html`<p class="soft">Commit <a href="${new URL(commit.web_url).pathname}">${commit.short_id}</a> ${commit.title}, ${commit.author_name} ${time(commit.committed_date)}</p>`;

type Entry = ShownFolder['entries']['items'][number];

function nameOf({ id, ref }: RefPath, { name, type, path, mode }: Entry): Html {
  if (type === 'tree') return html`<a href="${treePage(id, joined(ref, path))}" rel="nofollow">${name}/</a>`;
  if (type === 'commit') return html`${name} <span class="soft">submodule</span>`;
  const kind = mode === '120000' ? 'symbolic link' : mode === '100755' ? 'executable' : undefined;
  return html`<a href="${blobPage(id, ref, path)}" rel="nofollow">${name}</a>${kind && html` <span class="soft">${kind}</span>`}`;
}

function entryRow({ place, commits }: ShownFolder, entry: Entry): Html {
  const commit = commits.get(entry.name);
  return html`<tr><td>${nameOf(place, entry)}</td><td class="soft">${commit && html`<a href="${commitKind.page(place.id, commit.id)}" rel="nofollow">${commit.title}</a>`}</td><td class="soft">${
    commit && day(commit.committed_date.slice(0, 10))
  }</td></tr>`;
}

/** The entries of a folder, and its README below them. */
export function folderView(folder: ShownFolder, seen: Seen): Html {
  const { place, entries, readme } = folder;
  const parent = place.path.includes('/') ? place.path.slice(0, place.path.lastIndexOf('/')) : '';
  return html`<table class="entries"><caption class="visually-hidden">${place.path === '' ? 'Files' : `Files in ${place.path}`}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Last commit</th><th scope="col">Date</th></tr></thead>
<tbody>${place.path !== '' && html`<tr><td><a href="${treePage(place.id, joined(place.ref, parent))}">..<span class="visually-hidden"> the folder above</span></a></td><td></td><td></td></tr>`}
${entries.items.map((entry) => entryRow(folder, entry))}</tbody></table>
${pager(entries, seen)}
${readme && html`<section class="file readme"><h2>${readme.name}</h2>${readme.html}</section>`}`;
}

/** The actions for a ref as a whole. */
export function refActions({ id, ref, path, commit }: RefPath, { caller }: Seen, rest: Content = undefined): Html {
  const name = `${id.slice(id.lastIndexOf('/') + 1)}-${ref.replaceAll('/', '-')}`;
  return html`<p class="actions">${rest}<a href="${commitsPage(id, joined(ref, path))}" rel="nofollow">History</a>
<a href="${treePage(id, joined(commit.id, path))}" rel="nofollow">Permalink</a>
<a href="${archivePage(id, ref, `${name}.zip`)}" rel="nofollow" download>Download as zip</a>
<a href="${archivePage(id, ref, `${name}.tar.gz`)}" rel="nofollow" download>as tar.gz</a>
${caller && html`<a href="${newFilePage(id, joined(ref, path))}">New file</a> <a href="${newFolderPage(id, joined(ref, path))}">New folder</a> <a href="${uploadPage(id, joined(ref, path))}">Upload files</a>`}</p>`;
}
