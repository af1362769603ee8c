/** Geo nodes, migrations and storage moves. */
import { projectPage } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import { type Content, chip, type Html, html, time } from '../../../pages/index.ts';
import { pathOf } from '../issuables/present.ts';
import { factPage } from './definition.ts';

const titleOf = ({ name, id }: Values): string => String(name ?? id);

const geoPages = (['node', 'site'] as const).flatMap((noun) => {
  const Noun = noun === 'node' ? 'GeoNode' : 'GeoSite';
  return [
    factPage(`/admin/geo/${noun}s/:id/edit`, { read: ({ described }) => described(`get${Noun}`), title: titleOf }),
    factPage(`/admin/geo/${noun}s/:id/replication/*kind`, {
      read: ({ described }) => described(`get${Noun}Status`),
      title: () => 'Replication',
    }),
  ];
});

/** These replies contain no address of the project. */
function movedLink({ project, group, snippet }: Values): Html {
  const { path_with_namespace: path, name, title, web_url } = (project ?? group ?? snippet ?? {}) as Values;
  const address = typeof path === 'string' ? projectPage(path) : pathOf(String(web_url));
  return html`<a href="${address}">${String(path ?? title ?? name)}</a>`;
}

const moveLine = ({ state, source_storage_name, destination_storage_name, created_at, ...moved }: Values): Content =>
  html`${movedLink(moved)} ${chip(String(state))}
<div class="soft">From ${String(source_storage_name)} to ${String(destination_storage_name)}, ${time(String(created_at))}</div>`;

export const instanceFactPages = [
  ...geoPages,
  factPage('/admin/storage_moves', {
    title: () => 'Storage moves',
    lists: (['Project', 'Group', 'Snippet'] as const).map((noun) => ({
      heading: `${noun}s`,
      operation: `list${noun}StorageMoves`,
      line: moveLine,
    })),
  }),
  factPage('/import/bulk_imports/:id/history', {
    read: ({ described }) => described('getBulkImport'),
    title: ({ id }) => `Migration ${id}`,
    lists: [{ heading: 'What is migrated', operation: 'listBulkImportEntities' }],
  }),
];
