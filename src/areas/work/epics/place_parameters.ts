/** Where in an epic something is to go. */
import { Type } from 'typebox';
import { optional } from '../../../http/index.ts';

export interface NewPlace {
  /** What is to come right before it. */
  move_before_id?: number;
  /** What is to come right after it. */
  move_after_id?: number;
}

/** @param other what the ids are of */
export const newPlace = (other: string) => ({
  move_before_id: optional(Type.Integer({ description: `${other} to place it after` })),
  move_after_id: optional(Type.Integer({ description: `${other} to place it before` })),
});
