/** From which addresses a group can be reached (docs/reference/addresses.md#groups). */
import { inRanges, rangesIn } from '../../../foundation/address_ranges.ts';
import { type Caller, type Conditions, invalid } from '../../../http/index.ts';
import type { Settings } from '../../instance/application_settings/index.ts';

interface Setting {
  caller: Pick<Caller, 'admin'>;
  sent_from: Conditions['sent_from'];
  settings: Pick<Settings, 'globally_allowed_ips'>;
  /** Whether the group has no parent. */
  is_top_level: boolean;
}

/**
 * Refuses ranges that a group cannot have. Whoever sets them must be inside, unless they are an administrator.
 * @param ranges as they were given, separated by commas; undefined if none were, null or empty to remove them
 * @throws ApiError 400
 */
export function checkRanges(
  ranges: string | null | undefined,
  { caller, sent_from, settings, is_top_level }: Setting,
): void {
  if (!ranges) return;
  const refuse = (reasons: string[]) => invalid({ ip_restriction_ranges: reasons });
  if (!is_top_level) throw refuse(['is only for top-level groups']);
  const isInside = inRanges(rangesIn(`${ranges},${settings.globally_allowed_ips}`));
  if (!caller.admin && !isInside(sent_from.address ?? '')) throw refuse(['would lock you out']);
}
