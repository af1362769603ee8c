/** What a runner must be able to do for a job (docs/reference/runner_protocol.md#abilities). Pure functions. */
import type { Job } from '../../../ci_configuration/index.ts';

/** What a runner says that it can do, as far as the server asks. */
export interface Abilities {
  cancel_gracefully?: unknown;
  refspecs?: unknown;
  return_exit_code?: unknown;
  upload_multiple_artifacts?: unknown;
  upload_raw_artifacts?: unknown;
}

interface Needing {
  allow_failure: Job['allow_failure'];
  is_for_merge_request: boolean;
  /** What it uploads afterwards. */
  uploads: readonly { artifact_format: string }[];
}

/** Whether a runner lacks an ability without which a job would not do what its configuration says. */
export function lacksAbility(abilities: Abilities, { allow_failure, is_for_merge_request, uploads }: Needing): boolean {
  const needs: Record<keyof Omit<Abilities, 'cancel_gracefully'>, boolean> = {
    refspecs: is_for_merge_request,
    return_exit_code: typeof allow_failure !== 'boolean',
    upload_multiple_artifacts: uploads.length > 1,
    upload_raw_artifacts: uploads.some(({ artifact_format }) => artifact_format === 'raw'),
  };
  return Object.entries(needs).some(([name, isNeeded]) => isNeeded && abilities[name as keyof Abilities] !== true);
}

/** What a runner says of its abilities, whatever it sends. */
export function abilitiesIn(info: unknown): Abilities {
  const features: unknown = typeof info === 'object' && info !== null && 'features' in info ? info.features : undefined;
  return typeof features === 'object' && features !== null ? features : {};
}
