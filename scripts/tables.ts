// Part of `npm run check`: finds statements of a district that name tables of districts above it (docs/architecture.md#districts).
import { allTables, ownersOf, trespasses } from '../test/support/tables.ts';

/** Files that name such tables today. They can only become fewer. */
const known: Readonly<Record<string, string>> = {
  'areas/code/commit_statuses/actions.ts': 'merge_requests',
  'areas/code/repository/moving/actions.ts': 'merge_requests',
  'areas/code/repository/moving/merge_actions.ts': 'merge_requests',
  'areas/code/repository/moving/place_actions.ts': 'repository_storage_moves',
  'areas/conversation/notes/suggestion_present.ts': 'merge_requests',
  'areas/instance/blobs/actions.ts': 'uploads',
  'areas/people/emails/address_actions.ts': 'invitations',
  'areas/people/namespaces/count_queries.ts': 'repository_sizes',
  'areas/people/namespaces/deletion_actions.ts': 'repository_storage_moves snippets',
  'areas/people/users/request_actions.ts': 'access_requests todos',
  'areas/planning/iterations/actions.ts': 'issues',
  'areas/spaces/projects/queries.ts': 'issue_metric_images issues uploads',
};

const found = trespasses();
const isKnown = (file: string, table: string) => known[file]?.split(' ').includes(table) ?? false;
const isFound = (file: string, table: string) => found.some((each) => each.file === file && each.table === table);
const faults = [
  ...[...allTables]
    .filter((table) => ownersOf(table).length !== 1)
    .map((table) => `${table}: give it to one owner in test/support/tables.ts`),
  ...found
    .filter(({ file, table }) => !isKnown(file, table))
    .map(({ file, table }) => `src/${file}: ${table} is a table of ${ownersOf(table)}, which is above this district`),
  ...Object.entries(known).flatMap(([file, tables]) =>
    tables
      .split(' ')
      .filter((table) => !isFound(file, table))
      .map((table) => `scripts/tables.ts: ${file} no longer names ${table}; remove it from the list`),
  ),
];
if (faults.length > 0) {
  console.error(faults.join('\n'));
  process.exit(1);
}
