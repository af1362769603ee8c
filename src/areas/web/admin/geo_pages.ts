/** Geo sites with a picture of how they follow, and migrations from other servers. */
import type { Values } from '../../../http/index.ts';
import { chip, form, type Html, html, redirect, state, time } from '../../../pages/index.ts';
import { fieldsOf, formOf, part, settingsPage } from '../declared/definition.ts';
import { listPart } from '../declared/list_present.ts';
import { dotted, textOf } from '../declared/views.ts';

interface Site {
  id: number;
  name: string;
  url: string;
  primary: boolean;
  enabled: boolean;
}

interface Status {
  geo_node_id: number;
  healthy: boolean;
  health_status: string;
  db_replication_lag_seconds: number | null;
}

const boxWidth = 260;
const boxHeight = 64;
const gap = 24;

/** A site in the picture. @param colour of its line: `good`, `bad` or `soft` */
const siteBox = ({ name }: Site, says: string, colour: string, x: number, y: number): Html =>
  html`<g class="${colour}"><rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="8"/><text x="${x + 14}" y="${y + 26}">${name.slice(0, 28)}</text><text class="small" x="${x + 14}" y="${y + 47}">${says}</text></g>`;

/** The primary site at the left, and those that follow it at the right. */
function pictureOf(sites: readonly Site[], statuses: readonly Status[]): Html | undefined {
  const primary = sites.find((site) => site.primary);
  const others = sites.filter((site) => !site.primary);
  if (!primary || others.length === 0) return undefined;
  const height = others.length * (boxHeight + gap) - gap;
  const middle = (height - boxHeight) / 2;
  const right = boxWidth + 120;
  const shown = others.map((site, index) => {
    const status = statuses.find(({ geo_node_id }) => geo_node_id === site.id);
    const colour = !site.enabled || !status ? 'soft' : status.healthy ? 'good' : 'bad';
    const lag = status?.db_replication_lag_seconds;
    const says = !site.enabled
      ? 'Switched off'
      : !status
        ? 'Has not reported yet'
        : `${status.health_status}${lag === null || lag === undefined ? '' : `, ${lag} s behind`}`;
    const y = index * (boxHeight + gap);
    const line = html`<path class="${colour}" d="${`M${boxWidth} ${middle + boxHeight / 2}C${boxWidth + 60} ${middle + boxHeight / 2} ${right - 60} ${y + boxHeight / 2} ${right} ${y + boxHeight / 2}`}"/>`;
    return html`${line}${siteBox(site, says, colour, right, y)}`;
  });
  const healthy = others.filter(({ id }) => statuses.some((each) => each.geo_node_id === id && each.healthy)).length;
  return html`<svg class="pic" viewBox="${`-2 -2 ${right + boxWidth + 4} ${height + 4}`}" role="img" aria-label="${`${primary.name} is followed by ${others.length} sites, of which ${healthy} are healthy`}">${siteBox(primary, 'Primary', 'good', 0, middle)}${shown}</svg>`;
}

const picture = part<Html>({
  async load({ described }) {
    const [sites, statuses] = await Promise.all([
      described('listGeoSites', { per_page: 100 }),
      described('listGeoSiteStatuses', { per_page: 100 }),
    ]);
    return pictureOf((sites.reply as { items: Site[] }).items, (statuses.reply as { items: Status[] }).items);
  },
  view: (shown) => html`<p>${shown}</p>`,
});

const siteFields = fieldsOf({
  name: {},
  url: { label: 'Address' },
  internal_url: { label: 'Address for other sites' },
  enabled: { value: true },
  repos_max_capacity: { label: 'Repositories copied at a time' },
  files_max_capacity: { label: 'Files copied at a time' },
  verification_max_capacity: { label: 'Checks at a time' },
  minimum_reverification_interval: { label: 'Days until something is checked again' },
});

const geoPage = settingsPage('admin', 'geo', [
  picture,
  listPart('site', {
    heading: 'Sites',
    list: 'listGeoSites',
    names: ({ id }) => ({ id: Number(id) }),
    title: 'name',
    head: ({ id, name }) => html`<a href="${`/admin/geo/sites/${id}/replication/projects`}">${String(name)}</a>`,
    line: ['url', 'primary', 'enabled', 'current'],
    empty: 'This server stands alone.',
    create: formOf('createGeoSite', { ...siteFields, primary: {} }, { button: 'Add the site', heading: 'New site' }),
    edit: formOf('updateGeoSite', siteFields, { button: 'Save' }),
    buttons: {
      repair: { runs: 'repairGeoSite', label: 'Repair', done: 'It is being repaired.' },
      remove: { runs: 'deleteGeoSite', label: 'Remove', look: 'danger', done: 'The site is removed.' },
    },
  }),
  listPart('failure', {
    heading: 'What this site could not copy',
    list: 'listGeoSiteFailures',
    names: ({ project_id }) => ({ project_id: Number(project_id) }),
    title: ({ project_id }) => `Project ${project_id}`,
    head: ({ project_id }) => html`<a href="${`/projects/${project_id}`}">Project ${String(project_id)}</a>`,
    line: (failure) =>
      failureMembers.map((name) => failure[name] !== null && html`<div class="bad">${textOf(failure, name)}</div>`),
    empty: 'Nothing has failed here.',
  }),
]);

const failureMembers = [
  'last_repository_sync_failure',
  'last_repository_verification_failure',
  'last_wiki_sync_failure',
  'last_wiki_verification_failure',
] as const;

const isOpen = ({ status }: Values): boolean => status === 'created' || status === 'started';

const migrationsPage = settingsPage('admin', 'migrations', [
  listPart('migration', {
    list: 'listBulkImports',
    intro: 'Groups and projects that come from another server.',
    names: ({ id }) => ({ id: Number(id) }),
    title: ({ id }) => `Migration ${id}`,
    head: ({ id, status, has_failures }) =>
      html`<a href="${`/import/bulk_imports/${id}/history`}">Migration ${String(id)}</a> ${state(textOf({ status }, 'status') === 'finished' ? 'success' : textOf({ status }, 'status'))}${has_failures === true && html` ${chip('with failures', 'alert')}`}`,
    line: ({ source_url, created_at, updated_at }) =>
      dotted([
        String(source_url),
        html`begun ${time(String(created_at))}`,
        html`last step ${time(String(updated_at))}`,
      ]),
    empty: 'Nothing was migrated.',
    buttons: {
      cancel: { runs: 'cancelBulkImport', label: 'Stop', look: 'danger', isFor: isOpen, done: 'The migration stops.' },
      retry: {
        runs: 'retryBulkImport',
        label: 'Try again',
        isFor: ({ has_failures, status }) => has_failures === true && status !== 'started',
        done: 'The migration begins again.',
      },
    },
  }),
  part({
    forms: { start: { runs: 'startBulkImport' } },
    done: { start: 'The migration has begun.' },
    load: async ({ may }) => ((await may('startBulkImport')) ? {} : undefined),
    view: (_data, seen) =>
      html`<h2>Begin one</h2>${form(seen, 'start', {
        fields: [
          { name: 'configuration[url]', label: 'Address of the other server', is_required: true },
          { name: 'configuration[access_token]', label: 'A token of it', kind: 'password', is_required: true },
          {
            name: 'entities[0][source_type]',
            label: 'What comes',
            kind: 'select',
            options: [
              { value: 'group_entity', label: 'A group with all in it' },
              { value: 'project_entity', label: 'A project' },
            ],
          },
          { name: 'entities[0][source_full_path]', label: 'Its path there', is_required: true },
          { name: 'entities[0][destination_slug]', label: 'Its path here', is_required: true },
          {
            name: 'entities[0][destination_namespace]',
            label: 'Below the group',
            help: 'Left empty, at the top.',
            is_clearable: true,
          },
        ],
        button: 'Begin',
      })}`,
  }),
]);

export const adminGeoPages = [geoPage, migrationsPage, redirect('/admin/geo', () => '/admin/geo/sites')];
