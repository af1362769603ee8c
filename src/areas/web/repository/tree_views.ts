/** Views of folders. */
import { commitKind } from '../../../access/index.ts';
import { type Content, type Html, html, icon, menu, pager, type Seen, time } from '../../../pages/index.ts';
import { archivePage, blobPage, treePage } from '../../code/repository/index.ts';
import {
  commitsPage,
  editPage,
  findFilePage,
  joined,
  newFilePage,
  newFolderPage,
  uploadPage,
} from './address_rules.ts';
import type { RefPath } from './ref_queries.ts';
import type { Level, ShownFolder } from './tree_queries.ts';

/** The folder of a path; of the root, it is empty. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/**
 * Breadcrumbs from the root of the ref to a path, each part a link to its folder.
 * @param root the name of the root; by default the ref
 */
export function pathLinks({ id, ref, path }: Pick<RefPath, 'id' | 'ref' | 'path'>, root = ref): Html {
  const names = path === '' ? [] : path.split('/');
  const steps = names.map((name, index) => {
    const isLast = index === names.length - 1;
    const folder = names.slice(0, index + 1).join('/');
    return html`<li>${isLast ? html`<span aria-current="page">${name}</span>` : html`<a href="${treePage(id, joined(ref, folder))}">${name}</a>`}</li>`;
  });
  return html`<nav class="trail path" aria-label="Path in the repository"><ol><li><a href="${treePage(id, ref)}">${root}</a></li>${steps}</ol></nav>`;
}

/** A field for the name of a file, anywhere in the ref. */
export const findFile = (id: string, ref: string): Html =>
  html`<form method="get" class="seek" action="${findFilePage(id, ref)}"><button class="quiet" aria-label="Find">${icon('search')}</button><input type="search" name="search" aria-label="Go to file" placeholder="Go to file" data-key="t"></form>`;

type Entry = ShownFolder['entries']['items'][number];

/** A level of the tree, with the one below it. */
function levelView(place: RefPath, [level, ...below]: readonly Level[]): Content {
  if (!level) return undefined;
  const { id, ref, path } = place;
  const next = below[0]?.folder;
  const { items, has_more } = level.entries;
  const link = (entry: Pick<Entry, 'type' | 'path' | 'name'>) =>
    entry.type === 'tree'
      ? html`<a href="${treePage(id, joined(ref, entry.path))}" rel="nofollow">${icon('folder')}${entry.name}</a>`
      : html`<a href="${blobPage(id, ref, entry.path)}" rel="nofollow" ?aria-current="${entry.path === path && 'page'}">${icon('file')}${entry.name}</a>`;
  const shown = items.filter(({ type }) => type !== 'commit');
  const isBeyond = next !== undefined && !items.some((entry) => entry.path === next);
  const all = isBeyond
    ? [...shown, { type: 'tree' as const, path: next, name: next.slice(next.lastIndexOf('/') + 1) }]
    : shown;
  return html`<ul>${all.map((entry) => html`<li>${link(entry)}${entry.path === next && levelView(place, below)}</li>`)}${
    has_more && html`<li><a href="${treePage(id, joined(ref, level.folder))}" rel="nofollow">All files here</a></li>`
  }</ul>`;
}

/** The folders on the way to a file, with what is in them; only where there is room beside the file. */
export const treeBeside = (place: RefPath, levels: readonly Level[]): Html =>
  html`<nav class="tree" aria-label="Files">${findFile(place.id, place.ref)}${levelView(place, levels)}</nav>
`;

function nameOf({ id, ref }: RefPath, { name, type, path, mode }: Entry): Html {
  if (type === 'tree')
    return html`${icon('folder')} <a href="${treePage(id, joined(ref, path))}" rel="nofollow">${name}</a>`;
  if (type === 'commit') return html`${icon('pack')} ${name} <span class="soft">submodule</span>`;
  const kind = mode === '120000' ? 'symbolic link' : mode === '100755' ? 'executable' : undefined;
  return html`${icon('file')} <a href="${blobPage(id, ref, path)}" rel="nofollow">${name}</a>${kind && html` <span class="soft">${kind}</span>`}`;
}

function entryRow({ place, commits }: ShownFolder, entry: Entry): Html {
  const commit = commits.get(entry.name);
  return html`<tr><td>${nameOf(place, entry)}</td><td class="soft">${commit && html`<a href="${commitKind.page(place.id, commit.id)}" rel="nofollow">${commit.title}</a>`}</td><td class="soft">${
    commit && time(commit.committed_date)
  }</td></tr>`;
}

/**
 * The entries of a folder, and its README below them.
 * @param head what is above the entries
 */
export function folderView(folder: ShownFolder, seen: Seen, head: Content): Html {
  const { place, entries, readme } = folder;
  const { id, ref, path } = place;
  return html`<section class="file"><h2 class="visually-hidden">Files</h2>${head}<table class="entries"><caption class="visually-hidden">${path === '' ? 'Files' : `Files in ${path}`}</caption>
<thead class="visually-hidden"><tr><th scope="col">Name</th><th scope="col">Last commit</th><th scope="col">Date</th></tr></thead>
<tbody>${path !== '' && html`<tr><td>${icon('folder')} <a href="${treePage(id, joined(ref, folderOf(path)))}">..<span class="visually-hidden"> the folder above</span></a></td><td></td><td></td></tr>`}
${entries.items.map((entry) => entryRow(folder, entry))}</tbody></table></section>
${pager(entries, seen)}
${
  readme &&
  html`<section class="file readme"><header>${icon('book')}<h2>${readme.name}</h2><span class="grow"></span>${
    seen.caller &&
    html`<a class="quiet" href="${editPage(id, ref, path === '' ? readme.name : `${path}/${readme.name}`)}" aria-label="${`Edit ${readme.name}`}">${icon('pencil')}</a>`
  }</header>${readme.html}</section>`
}`;
}

/** The menu to add files to a folder, for those who are signed in; who may not push proposes from a fork. */
export const addMenu = ({ id, ref, path }: RefPath, { caller }: Seen): Content =>
  caller &&
  menu(
    html`${icon('plus')}Add file`,
    html`<ul><li><a href="${newFilePage(id, joined(ref, path))}">${icon('file')}New file</a></li>
<li><a href="${uploadPage(id, joined(ref, path))}">${icon('upload')}Upload files</a></li>
<li><a href="${newFolderPage(id, joined(ref, path))}">${icon('folder')}New folder</a></li></ul>`,
  );

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;

/** Links to archives of a folder. */
export function archiveLinks({ id, ref, path }: RefPath): Html {
  const name = `${id.slice(id.lastIndexOf('/') + 1)}-${ref.replaceAll('/', '-')}`;
  const query = path === '' ? '' : `?${new URLSearchParams({ path })}`;
  return html`<ul>${formats.map(
    (format) =>
      html`<li><a href="${archivePage(id, ref, `${name}.${format}`) + query}" rel="nofollow" download>${icon('download')}Download ${format}</a></li>`,
  )}</ul>`;
}

/** The menu of what else there is to a folder. */
export const folderMenu = (place: RefPath): Html =>
  menu(
    html`${icon('dots')}<span class="visually-hidden">More</span>`,
    html`<ul><li><a href="${commitsPage(place.id, joined(place.ref, place.path))}" rel="nofollow">${icon('clock')}History</a></li>
<li><a href="${treePage(place.id, joined(place.commit.id, place.path))}" rel="nofollow" data-key="y">${icon('link')}Permalink</a></li></ul>
${archiveLinks(place)}`,
  );
