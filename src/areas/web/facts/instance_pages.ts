/** Geo nodes and migrations. */
import type { Values } from '../../../http/index.ts';
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

export const instanceFactPages = [
  ...geoPages,
  factPage('/import/bulk_imports/:id/history', {
    read: ({ described }) => described('getBulkImport'),
    title: ({ id }) => `Migration ${id}`,
    lists: [{ heading: 'What is migrated', operation: 'listBulkImportEntities' }],
  }),
];
