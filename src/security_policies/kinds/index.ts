/** The types of rules. */
import { anyMergeRequest } from './any_merge_request.ts';
import type { AnyRuleKind } from './kind.ts';
import { licenseFinding } from './license_finding.ts';
import { scanFinding } from './scan_finding.ts';

const kinds: readonly AnyRuleKind[] = [anyMergeRequest, scanFinding, licenseFinding];

/** By the `type` of their rules. */
export const ruleKinds: ReadonlyMap<string, AnyRuleKind> = new Map(kinds.map((kind) => [kind.type, kind]));
