/** Parameters, members and refusals shared by all routes of links. */
import { Type } from 'typebox';
import type { IssuableKind } from '../../../../access/index.ts';
import { Timestamp } from '../../../../http/index.ts';
import { assignedText, noMatchText } from '../rules.ts';

export const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const;
export const LinkType = Type.Enum([...linkTypes]);

/** The type of a new link. */
export const NewLinkType = ({ name }: IssuableKind, remark = '') =>
  Type.Enum([...linkTypes], {
    default: 'relates_to',
    description: `Relation of this ${name} to the other one${remark}`,
  });

/** Members of the reply in addition to those of the linked item. */
export const linkedFields = ({ name }: IssuableKind) => ({
  link_type: Type.Enum([...linkTypes], { description: `Relation of the listed ${name} to this one` }),
  link_created_at: Timestamp,
  link_updated_at: Timestamp,
});

/** The refusals of new links. */
export const linkRefusals = (kind: IssuableKind) => ({
  404: [`404 ${kind.places === 'projects' ? 'Project' : 'Group'} Not Found`, noMatchText(kind)],
  409: assignedText(kind),
  422: `<${kind.name}> cannot be added: cannot be related to itself`,
});
