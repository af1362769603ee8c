// Part of `npm run check`: finds statements of a district that name tables of districts to which no arrow leads (docs/architecture.md#districts).
import { allTables, ownersOf, trespasses } from '../test/support/tables.ts';

/** Files that name such tables today, and why. They can only become fewer. */
const known: Readonly<Record<string, string>> = {
  // A merge is a move of refs, and its outcome is written in the transaction of the move (docs/decisions/0042-a-merge-is-a-move-in-the-journal.md).
  'areas/code/repository/moving/actions.ts': 'merge_requests',
  'areas/code/repository/moving/merge_actions.ts': 'merge_requests',
  // A status is reported often, and a merge seldom waits for it: a look at an index costs less than a job.
  'areas/code/commit_statuses/actions.ts': 'merge_requests',
  // A move of a repository to another storage locks out others by its row.
  'areas/code/repository/moving/place_actions.ts': 'repository_storage_moves',
  'areas/people/namespaces/deletion_actions.ts': 'repository_storage_moves snippets',
  // Copies of an upload share its blob. Whether one is left is decided under the lock of their rows, in the transaction that deletes the blob.
  'areas/instance/blobs/actions.ts': 'uploads',
};

const found = await trespasses();
const isKnown = (file: string, table: string) => known[file]?.split(' ').includes(table) ?? false;
const isFound = (file: string, table: string) => found.some((each) => each.file === file && each.table === table);
const faults = [
  ...[...allTables]
    .filter((table) => ownersOf(table).length !== 1)
    .map((table) => `${table}: give it to one owner in test/support/tables.ts`),
  ...found
    .filter(({ file, table }) => !isKnown(file, table))
    .map(
      ({ file, table }) =>
        `src/${file}: ${table} is a table of ${ownersOf(table)}, to which no arrow of docs/architecture.md leads from this district`,
    ),
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
