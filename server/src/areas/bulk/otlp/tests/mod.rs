//! Requests through the public doors of the room.

mod messages;
mod points;
mod random;
