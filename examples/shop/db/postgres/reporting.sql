-- The reporting database: filled every night, read by the accountant.
CREATE SCHEMA IF NOT EXISTS reporting;

CREATE TYPE reporting.period AS ENUM ('day', 'month', 'year');

CREATE TABLE reporting.daily_sales (
    day       date PRIMARY KEY,
    orders    integer NOT NULL CHECK (orders >= 0),
    turnover  numeric(14, 2) NOT NULL,
    "comment" text
);

CREATE TABLE reporting.refunds (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    day     date NOT NULL REFERENCES reporting.daily_sales (day),
    amount  numeric(14, 2) NOT NULL
);

CREATE OR REPLACE FUNCTION reporting.net_turnover(first_day date, last_day date)
RETURNS numeric
LANGUAGE sql STABLE
AS $$
    SELECT COALESCE(SUM(s.turnover), 0) - COALESCE((
        SELECT SUM(r.amount) FROM reporting.refunds AS r WHERE r.day BETWEEN first_day AND last_day
    ), 0)
    FROM reporting.daily_sales AS s
    WHERE s.day BETWEEN first_day AND last_day;
$$;

CREATE FUNCTION reporting.refuse_future() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
    IF NEW.day > current_date THEN
        RAISE EXCEPTION 'sales of % are not known yet; see the runbook', NEW.day;
    END IF;
    RETURN NEW;
END;
$body$;

CREATE TRIGGER daily_sales_not_in_future
    BEFORE INSERT OR UPDATE ON reporting.daily_sales
    FOR EACH ROW EXECUTE FUNCTION reporting.refuse_future();

CREATE MATERIALIZED VIEW reporting.monthly_sales AS
SELECT date_trunc('month', s.day)::date AS month, SUM(s.orders) AS orders, SUM(s.turnover) AS turnover
FROM reporting.daily_sales AS s
GROUP BY 1;

CREATE UNIQUE INDEX monthly_sales_month ON reporting.monthly_sales (month);

COMMENT ON TABLE reporting.daily_sales IS 'One row a day; written by the nightly job only.';
