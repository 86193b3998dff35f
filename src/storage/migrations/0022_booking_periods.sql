-- The start of the budget's period that the booking counts in, 0 when that was over; null of what earlier versions have
-- booked, and of archived bookings.
ALTER TABLE ledger_bookings ADD COLUMN period_start BIGINT;
