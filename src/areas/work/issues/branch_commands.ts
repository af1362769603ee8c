/** The quick action that starts work on an issue. */
import type { Definition } from '../../conversation/quick_actions/index.ts';

export const branchCommands: readonly Definition[] = [
  {
    names: ['create_merge_request'],
    needs: 'read',
    existing: true,
    apply:
      ({ operations }, argument) =>
      async () =>
        (await operations.createMergeRequest?.(argument.trim())) ? 'Creating a branch and a merge request.' : undefined,
  },
];
