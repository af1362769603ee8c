/** Checking the configuration of pipelines (docs/reference/ci_configuration.md#lint). */
import type { Static } from 'typebox';
import { page } from '../../../pages/index.ts';
import { LintResult } from '../../ci/configuration/index.ts';
import { lintedView, lintView } from './lint_views.ts';

const lintPage = page('/:id/-/ci/lint', {
  is_costly: true,
  async load({ params, may, perhaps, one }) {
    const isReader = await may('lintProjectCiConfiguration');
    const checked = one(LintResult, 'lintProjectCiConfiguration', { include_jobs: true });
    // Whoever may read the code is told that there is none yet, and others what the API tells them.
    return { id: params.id!, result: isReader ? await perhaps(checked) : await checked };
  },
  forms: {
    check: {
      runs: 'lintCiConfiguration',
      parameters: { include_jobs: true },
      shows: (reply: Static<typeof LintResult>, { params, path }) =>
        lintedView({ id: params.id!, result: reply }, path),
    },
  },
  view: lintView,
});

export const lintPages = [lintPage];
