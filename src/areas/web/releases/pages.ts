/** Releases of a project, and the addresses below them that the API returns (docs/reference/work_pages.md). */
import { filePage, type Operation, type PageCall, page, pagingOf, redirect } from '../../../pages/index.ts';
import { throughProxy } from '../../instance/pictures/index.ts';
import { Release, releasePage } from '../../work/releases/index.ts';
import { editReleasePage, newReleasePage } from './form_pages.ts';
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

const listPage = (kind: 'project' | 'group') =>
  page(kind === 'group' ? '/groups/:id/-/releases' : '/:id/-/releases', {
    load: async ({ list, may, params, query }) => {
      const [releases, mayCreate] = await Promise.all([
        list(Release, kind === 'group' ? 'listGroupReleases' : 'listReleases', pagingOf({ query })),
        kind === 'project' && may('createRelease'),
      ]);
      return { id: params.id!, kind, releases, mayCreate };
    },
    view: releasesView,
  });

const onePage = page('/:id/-/releases/:tag_name', {
  load: async ({ one, may, params, services }) => {
    const [release, mayEdit] = await Promise.all([
      one(Release, 'getRelease', { include_html_description: true }),
      may('updateRelease'),
    ]);
    const description_html = throughProxy(services, release.description_html ?? '');
    return { id: params.id!, url: services.url, release: { ...release, description_html }, mayEdit };
  },
  forms: { collect: { runs: 'collectReleaseEvidence' } },
  view: releaseView,
});

export const releasePages = [
  redirect('/:id/-/releases/permalink/latest', (call) => latestPage(call, 'getLatestRelease')),
  redirect('/:id/-/releases/permalink/latest/*suffix_path', (call) => latestPage(call, 'getBelowLatestRelease')),
  redirect('/:id/-/releases/:tag_name/downloads/*direct_asset_path', (call) =>
    locationFrom(call, 'downloadReleaseAsset'),
  ),
  filePage('/:id/-/releases/:tag_name/evidences/:evidence_id.json', ({ bytes }) => bytes('readReleaseEvidence')),
  editReleasePage,
  newReleasePage,
  onePage,
  listPage('project'),
  listPage('group'),
];
