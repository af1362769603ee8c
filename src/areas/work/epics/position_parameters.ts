/** The parameters for a position in an epic. */
import { Type } from 'typebox';
import { optional } from '../../../http/index.ts';

export interface NewPosition {
  /** The item directly before it. */
  move_before_id?: number;
  /** The item directly after it. */
  move_after_id?: number;
}

/** @param other the kind of item that the ids refer to */
export const newPosition = (other: string) => ({
  move_before_id: optional(Type.Integer({ description: `${other} to place it after` })),
  move_after_id: optional(Type.Integer({ description: `${other} to place it before` })),
});
