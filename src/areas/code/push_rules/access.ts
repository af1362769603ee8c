/** Who may set push rules (docs/reference/push_rules.md#permissions). */
import { type Owner, ownerRole } from '../../../access/index.ts';
import type { Access, Caller } from '../../../http/index.ts';

const permission = 'admin_push_rules';
export const plan = 'premium';

/** Grants the project in `:id` to its maintainers and to holders of the permission. */
export const ofProject: Access<{ caller: Caller; owner: Owner }> = ownerRole('project', permission);
