/** Releases of a project, and the addresses below them that the API returns (docs/reference/work_pages.md). */
import { filePage, type Operation, type PageCall, page, pagingOf, redirect } from '../../../pages/index.ts';
import { throughProxy } from '../../instance/pictures/index.ts';
import { Release, releasePage } from '../../work/releases/index.ts';
import { releasesView, releaseView } from './views.ts';

/** The target of an endpoint's redirect. */
async function locationFrom({ bytes }: PageCall, operation: Operation): Promise<URL> {
  return new URL((await bytes(operation)).headers!.location!);
}

/** The page of the latest release according to the API, and of addresses below it. */
async function latestPage(call: PageCall, operation: Operation): Promise<string> {
  const { pathname } = await locationFrom(call, operation);
  return releasePage(call.params.id!, '') + pathname.slice(pathname.indexOf('/releases/') + '/releases/'.length);
}

const listPage = page('/:id/-/releases', {
  load: async ({ list, params, query }) => ({
    id: params.id!,
    releases: await list(Release, 'listReleases', pagingOf({ query })),
  }),
  view: releasesView,
});

const onePage = page('/:id/-/releases/:tag_name', {
  load: async ({ one, params, services }) => {
    const release = await one(Release, 'getRelease', { include_html_description: true });
    const description_html = throughProxy(services, release.description_html ?? '');
    return { id: params.id!, url: services.url, release: { ...release, description_html } };
  },
  view: releaseView,
});

export const releasePages = [
  redirect('/:id/-/releases/permalink/latest', (call) => latestPage(call, 'getLatestRelease')),
  redirect('/:id/-/releases/permalink/latest/*suffix_path', (call) => latestPage(call, 'getBelowLatestRelease')),
  redirect('/:id/-/releases/:tag_name/downloads/*direct_asset_path', (call) =>
    locationFrom(call, 'downloadReleaseAsset'),
  ),
  filePage('/:id/-/releases/:tag_name/evidences/:evidence_id.json', ({ bytes }) => bytes('readReleaseEvidence')),
  redirect('/:id/-/releases/:tag_name/edit', ({ path }) => path.replace(/\/edit$/, '')),
  onePage,
  listPage,
];
