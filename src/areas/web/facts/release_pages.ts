/** Releases of a project, and the addresses below them that the API hands out. */
import type { Values } from '../../../http/index.ts';
import { type Content, filePage, html, type PageCall, person, redirect, time } from '../../../pages/index.ts';
import { releasePage } from '../../work/releases/index.ts';
import { factPage } from './definition.ts';

/** Callers who may not read the code see no tag, and get no further. */
function releaseLine({ name, tag_name, released_at, upcoming_release, author, _links }: Values): Content {
  const { self } = _links as Values;
  const title =
    self === undefined
      ? String(name)
      : html`<a class="title" href="${new URL(String(self)).pathname}">${String(name)}</a>`;
  return html`${title} ${upcoming_release === true && html`<span class="label">upcoming</span>`}
<div class="soft">${tag_name !== undefined && html`Tag ${String(tag_name)}, `}${time(String(released_at))}, by ${person(author as { username: string; name: string } | null)}</div>`;
}

/** Where an endpoint redirects to. */
async function locationFrom({ bytes }: PageCall, operation: string): Promise<string> {
  return (await bytes(operation)).headers!.location!;
}

/** The page of what the API calls the latest release, and of what is below it. */
async function latestPage(call: PageCall, operation: string): Promise<string> {
  const { pathname } = new URL(await locationFrom(call, operation));
  return releasePage(call.params.id!, '') + pathname.slice(pathname.indexOf('/releases/') + '/releases/'.length);
}

export const releasePages = [
  redirect('/:id/-/releases/permalink/latest', (call) => latestPage(call, 'getLatestRelease')),
  redirect('/:id/-/releases/permalink/latest/*suffix_path', (call) => latestPage(call, 'getBelowLatestRelease')),
  redirect('/:id/-/releases/:tag_name/downloads/*direct_asset_path', (call) =>
    locationFrom(call, 'downloadReleaseAsset'),
  ),
  filePage('/:id/-/releases/:tag_name/evidences/:evidence_id.json', ({ bytes }) => bytes('readReleaseEvidence')),
  redirect('/:id/-/releases/:tag_name/edit', ({ path }) => path.replace(/\/edit$/, '')),
  factPage('/:id/-/releases/:tag_name', {
    read: ({ described }) => described('getRelease'),
    title: ({ name }) => String(name),
  }),
  factPage('/:id/-/releases', {
    title: () => 'Releases',
    lists: [{ heading: 'All releases', operation: 'listReleases', line: releaseLine }],
  }),
];
