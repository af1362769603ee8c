/** How a group's settings of approvals leave and arrive (docs/reference/relations_export.md#approval_settings). */
import { columnOr, flag, type RecordKind, type Relation } from '../../../../relations/index.ts';
import { type ApprovalSetting, approvalSettings, isAllowedByDefault } from './setting_queries.ts';

const setting = (name: ApprovalSetting) => [name, columnOr(name, flag, isAllowedByDefault(name))] as const;

const settings: RecordKind = {
  table: 'group_approval_settings',
  owner: { group: 'group_id' },
  is_link: true,
  identity: 'group_id',
  distinct: ['group_id'],
  members: Object.fromEntries(approvalSettings.map(setting)),
  stays: {},
};

/** The approval settings of a group; none if it has never set any. */
export const groupApprovalSettings: Relation = { name: 'approval_settings', kind: settings, plan: 'premium' };
