/** The chain of custody of a group (docs/reference/compliance_frameworks.md#chain-of-custody). */
import { Readable } from 'node:stream';
import { groupRole } from '../../../access/index.ts';
import { bytes, get } from '../../../http/index.ts';
import { custodyLines } from './custody_git.ts';

export const custodyRoutes = [
  get('/groups/:id/merge_commit_reports.csv', {
    operation: 'exportMergeCommitReport',
    summary: 'Export which commits were merged in a group, by whom, and who approved, as CSV',
    access: groupRole('reporter'),
    plan: 'ultimate',
    returns: bytes(['text/csv']),
    handle: async ({ caller, group, ...services }) => ({
      body: Readable.from(custodyLines(services, caller, group.id)),
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="merge_commits.csv"',
      },
    }),
  }),
];
